import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct IgnoredConditionTests {
  private let scheduler = ManualScheduler()

  private func procedure(_ conditions: any Condition...) -> TracedProcedure {
    let procedure = TracedProcedure("procedure")
    for condition in conditions { procedure.add(condition: condition) }
    return procedure
  }

  private func run(_ procedures: Procedure...) {
    ProcedureQueue(scheduler: scheduler).add(procedures)
    scheduler.run()
  }

  @Test(
    "D2: a condition that is ignored is named when it has cancelled its procedure, and only then",
    arguments: Verdict.allCases, Form.allCases)
  func name(verdict: Verdict, form: Form) {
    let condition = scripted("reason", verdict, form)
    let procedure = procedure(scripted("first"), condition)
    let seen = Recorder<String>()
    procedure.addDidCancelBlockObserver { procedure, _ in
      seen.note(procedure.ignoredCondition ?? "none")
    }
    run(procedure)
    let expected = verdict == .ignored ? condition.name : nil
    #expect(procedure.ignoredCondition == expected)
    #expect(procedure.conditions.isEmpty)
    #expect(seen.events == (verdict == .satisfied ? [] : [expected ?? "none"]))
  }

  @Test("D2: the ignored condition of a compound, and of a group, is named")
  func compound() {
    let group = GroupProcedure(children: [TracedProcedure("child")])
    group.add(condition: AndCondition(BlockCondition { false }, BlockCondition { true }))
    run(group)
    #expect(group.ignoredCondition == "And(BlockCondition, BlockCondition)")
    #expect(group.outcome == .cancelled([]))
  }

  @Test("D2: a cancel that was first is not taken for an ignored condition")
  func cancelledBefore() {
    let procedure = procedure(
      BlockCondition { procedure in
        procedure.cancel()
        return false
      })
    run(procedure)
    #expect(procedure.outcome == .cancelled([]))
    #expect(procedure.ignoredCondition == nil)
  }

  @Test(
    "C8: a dependency may be required to have succeeded or to have had nothing to do",
    arguments: Verdict.allCases, Form.allCases)
  func requirement(verdict: Verdict, form: Form) {
    let dependency = procedure(scripted("a", verdict, form))
    let (lenient, strict) = (TracedProcedure("lenient"), TracedProcedure("strict"))
    lenient.add(dependency: dependency, requiring: .successOrIgnored)
    strict.add(dependency: dependency, requiring: .success)
    run(dependency, lenient, strict)
    #expect(lenient.outcome?.isSuccess == !verdict.fails)
    #expect(strict.outcome?.isSuccess == (verdict == .satisfied))
  }

  @Test("C8: a cancel from outside, and a failure, are no success where nothing to do is one")
  func otherEnds() {
    let (cancelled, failing) = (
      TracedProcedure("cancelled"), TracedProcedure("failing", end: .whenTold)
    )
    let dependents = [TracedProcedure("after cancelled"), TracedProcedure("after failing")]
    for (dependent, dependency) in zip(dependents, [cancelled, failing]) {
      dependent.add(dependency: dependency, requiring: .successOrIgnored)
    }
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.add([cancelled, failing] + dependents)
    // On a queue already, so that its turn is the scheduler's.
    cancelled.cancel()
    scheduler.run()
    failing.finish(withError: TestError("bad"))
    scheduler.run()
    let codes = dependents.map { ($0.errors.first as? ProcedureError)?.code }
    #expect(codes == [.dependencyCancelled, .dependencyFailed])
  }
}
