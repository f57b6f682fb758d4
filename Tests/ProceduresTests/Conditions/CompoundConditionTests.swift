import Procedures
import ProcedureTestSupport
import Testing

/// The tables of `And`, `Or`, `Not` and `Ignored`, with members that answer at once and later.
@Suite(.hangLimit) struct CompoundConditionTests {
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

  private func pair(_ test: Case, _ trace: Recorder<String>) -> (any Condition, any Condition) {
    (
      scripted("left", test.left, test.forms.left, trace),
      scripted("right", test.right, test.forms.right, trace)
    )
  }

  @Test("D4: AndCondition gives the answer of the first that is not satisfied, and asks no further")
  func and() {
    for test in Self.cases {
      let trace = Recorder<String>()
      let (left, right) = pair(test, trace)
      let goesOn = test.left == .satisfied
      #expect(
        outcome(of: AndCondition(left, right))
          == (goesOn ? test.right.outcome("right") : test.left.outcome("left")), "\(test)")
      #expect(trace.events == (goesOn ? ["left", "right"] : ["left"]), "\(test)")
    }
  }

  @Test(
    "D4, D2: Or is satisfied by its first satisfied member; else failed beats ignored, with all errors"
  )
  func or() {
    for test in Self.cases {
      let trace = Recorder<String>()
      let (left, right) = pair(test, trace)
      let outcome = outcome(of: OrCondition(left, right))
      let stops = test.left == .satisfied
      #expect(trace.events == (stops ? ["left"] : ["left", "right"]), "\(test)")
      switch (test.left.fails, test.right.fails) {
      case _ where stops || test.right == .satisfied: #expect(outcome == .succeeded, "\(test)")
      case (false, false): #expect(outcome == .cancelled([]), "\(test)")
      case (true, false): #expect(outcome == test.left.outcome("left"), "\(test)")
      case (false, true): #expect(outcome == test.right.outcome("right"), "\(test)")
      case (true, true):
        let both = [TestError("left"), TestError("right")]
        let error = ProcedureError(
          .conditionFailed, procedure: "BlockProcedure", underlyingErrors: both)
        #expect(outcome?.deep == .cancelled([.error(error)]), "\(test)")
        #expect("\(outcome!)".contains("Condition 'Or("), "\(test)")
      }
    }
  }

  @Test(
    "D4: Not turns satisfied into failed, and all else into satisfied", arguments: Form.allCases)
  func not(form: Form) {
    for verdict in Verdict.allCases {
      let outcome = outcome(of: NotCondition(AnyCondition(scripted("a", verdict, form))))
      guard verdict == .satisfied else {
        #expect(outcome == .succeeded)
        continue
      }
      let error = ProcedureError(.conditionFailed, procedure: "BlockProcedure")
      #expect(outcome?.deep == .cancelled([.error(error)]))
      #expect("\(outcome!)".contains("'Not<AnyCondition>'"))
    }
  }

  @Test("D4: Ignored turns failed into ignored, and nothing else", arguments: Form.allCases)
  func ignored(form: Form) {
    for verdict in Verdict.allCases {
      let outcome = outcome(of: IgnoredCondition(AnyCondition(scripted("a", verdict, form))))
      #expect(outcome == (verdict == .satisfied ? .succeeded : .cancelled([])))
    }
  }

  @Test(
    "D1, D4: a condition that comes twice is asked twice; an Or inside another one is one error of that"
  )
  func twiceAndNested() {
    let trace = Recorder<String>()
    let procedure = BlockProcedure {}
    let condition = scripted("a", .satisfied, .atOnce, trace)
    procedure.add(condition: condition)
    procedure.add(condition: condition)
    procedure.add(condition: AndCondition(condition, condition))
    ProcedureQueue(scheduler: scheduler).add(procedure)
    scheduler.run()
    #expect(procedure.outcome == .succeeded && trace.events == ["a", "a", "a", "a"])
    let inner = OrCondition(scripted("a", .failed), scripted("b", .failed))
    let nested = outcome(of: OrCondition(inner, scripted("c", .failed)))
    let causes = (nested?.errors.first as? ProcedureError)?.underlyingErrors ?? []
    #expect(causes.count == 2 && causes.last as? TestError == TestError("c"))
    let both = (causes.first as? ProcedureError)?.underlyingErrors as? [TestError]
    #expect(both == [TestError("a"), TestError("b")])
  }

  @Test("D4: without members And is satisfied, and Or ignored")
  func empty() {
    #expect(
      outcome(of: AndCondition()) == .succeeded && outcome(of: OrCondition()) == .cancelled([]))
    #expect(outcome(of: AndCondition([any Condition]())) == .succeeded)
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
    #expect(outcome(of: condition("a", false) && condition("b", true)) == .cancelled([]))
    #expect(outcome(of: condition("c", true) || condition("d", true)) == .succeeded)
    #expect(outcome(of: !condition("e", false)) == .succeeded)
    #expect(
      outcome(of: !(condition("f", true) && condition("g", false)) || condition("h", false))
        == .succeeded
    )
    #expect(trace.events == ["a", "c", "e", "f", "g"])
  }

  @Test("D4: names say what a compound is made of")
  func names() {
    let condition = BlockCondition { true }
    #expect((condition && !condition).name == "And(BlockCondition, Not<BlockCondition>)")
    #expect(
      (IgnoredCondition(condition) || SilentCondition(condition)).name
        == "Or(Ignored<BlockCondition>, Silent<BlockCondition>)")
    #expect(MutuallyExclusive<Int>().name == "MutuallyExclusive<Int>")
    #expect(MutuallyExclusive(named: "disk").name == "MutuallyExclusive<disk>")
  }

  @Test("D4: 10,000 members that answer at once overflow no stack, nor do 1,000 that do not")
  func many() {
    #expect(outcome(of: AndCondition((0..<10_000).map { scripted("\($0)") })) == .succeeded)
    #expect(
      outcome(of: OrCondition((0..<10_000).map { scripted("\($0)", .ignored) })) == .cancelled([]))
    #expect(
      outcome(of: AndCondition((0..<1_000).map { scripted("\($0)", .satisfied, .awaited) }))
        == .succeeded
    )
  }
}
