import Procedures
import ProcedureTestSupport
import Testing

/// The tables of `And`, `Or`, `Not` and `Ignored`, with members that answer at once and later.
@Suite struct CompoundConditionTests {
  private let scheduler = ManualScheduler()

  private struct Case {
    let left: Verdict
    let right: Verdict
    let forms: (left: Form, right: Form)
  }

  private static let cases: [Case] = Verdict.allCases.flatMap { left in
    Verdict.allCases.flatMap { right in
      Form.allCases.flatMap { first in
        Form.allCases.map { Case(left: left, right: right, forms: (first, $0)) }
      }
    }
  }

  private func outcome(of condition: any Condition) -> ProcedureOutcome? {
    let procedure = BlockProcedure {}
    procedure.add(condition: condition)
    ProcedureQueue(scheduler: scheduler).add(procedure)
    scheduler.run()
    return procedure.outcome
  }

  private func text(_ condition: any Condition) -> String {
    outcome(of: condition).map { "\($0)" } ?? "none"
  }

  private func pair(_ test: Case, _ trace: Recorder<String>) -> (any Condition, any Condition) {
    (
      scripted("left", test.left, test.forms.left, trace),
      scripted("right", test.right, test.forms.right, trace)
    )
  }

  @Test("D4: And gives the answer of the first that is not satisfied, and asks no further")
  func and() {
    for test in Self.cases {
      let trace = Recorder<String>()
      let (left, right) = pair(test, trace)
      let goesOn = test.left == .satisfied
      #expect(
        text(And(left, right))
          == (goesOn ? test.right.outcome("right") : test.left.outcome("left")), "\(test)")
      #expect(trace.events == (goesOn ? ["left", "right"] : ["left"]), "\(test)")
    }
  }

  @Test("D4, D2: Or is satisfied by the first that is; else failed beats ignored, with all errors")
  func or() {
    for test in Self.cases {
      let trace = Recorder<String>()
      let (left, right) = pair(test, trace)
      let text = text(Or(left, right))
      let stops = test.left == .satisfied
      #expect(trace.events == (stops ? ["left"] : ["left", "right"]), "\(test)")
      switch (test.left.fails, test.right.fails) {
      case _ where stops || test.right == .satisfied: #expect(text == "succeeded", "\(test)")
      case (false, false): #expect(text == "cancelled", "\(test)")
      case (true, false): #expect(text == "cancelled: left", "\(test)")
      case (false, true): #expect(text == "cancelled: right", "\(test)")
      case (true, true):
        #expect(text.hasPrefix("cancelled: Condition 'Or("), "\(test): \(text)")
        #expect(text.hasSuffix("was not satisfied: left; right"), "\(test): \(text)")
      }
    }
  }

  @Test(
    "D4: Not turns satisfied into failed, and all else into satisfied", arguments: Form.allCases)
  func not(form: Form) {
    for verdict in Verdict.allCases {
      let outcome = outcome(of: Not(AnyCondition(scripted("a", verdict, form))))
      guard verdict == .satisfied else {
        #expect("\(outcome!)" == "succeeded")
        continue
      }
      #expect(
        outcome.map { "\($0)" }?.hasPrefix("cancelled: Condition 'Not<AnyCondition>' of '") ?? false
      )
      #expect((outcome?.errors.first as? ProcedureError)?.code == .conditionFailed)
    }
  }

  @Test("D4: Ignored turns failed into ignored, and nothing else", arguments: Form.allCases)
  func ignored(form: Form) {
    for verdict in Verdict.allCases {
      let text = text(Ignored(AnyCondition(scripted("a", verdict, form))))
      #expect(text == (verdict == .satisfied ? "succeeded" : "cancelled"))
    }
  }

  @Test("D4: without members And is satisfied, and Or ignored")
  func empty() {
    #expect(text(And()) == "succeeded" && text(Or()) == "cancelled")
    #expect(text(And([any Condition]())) == "succeeded")
  }

  @Test("D4: the operators are And, Or and Not, and short-circuit like them")
  func operators() {
    let trace = Recorder<String>()
    func condition(_ name: String, _ isSatisfied: Bool) -> BlockCondition {
      BlockCondition {
        trace.note(name)
        return isSatisfied
      }
    }
    #expect(text(condition("a", false) && condition("b", true)) == "cancelled")
    #expect(text(condition("c", true) || condition("d", true)) == "succeeded")
    #expect(text(!condition("e", false)) == "succeeded")
    #expect(
      text(!(condition("f", true) && condition("g", false)) || condition("h", false)) == "succeeded"
    )
    #expect(trace.events == ["a", "c", "e", "f", "g"])
  }

  @Test("D4: names say what a compound is made of")
  func names() {
    let condition = BlockCondition { true }
    #expect((condition && !condition).name == "And(BlockCondition, Not<BlockCondition>)")
    #expect(
      (Ignored(condition) || Silent(condition)).name
        == "Or(Ignored<BlockCondition>, Silent<BlockCondition>)")
    #expect(MutuallyExclusive<Int>().name == "MutuallyExclusive<Int>")
    #expect(MutuallyExclusive(named: "disk").name == "MutuallyExclusive<disk>")
  }

  @Test("D4: 10,000 members that answer at once overflow no stack, nor do 1,000 that do not")
  func many() {
    #expect(text(And((0..<10_000).map { scripted("\($0)") })) == "succeeded")
    #expect(text(Or((0..<10_000).map { scripted("\($0)", .ignored) })) == "cancelled")
    #expect(text(And((0..<1_000).map { scripted("\($0)", .satisfied, .awaited) })) == "succeeded")
  }
}
