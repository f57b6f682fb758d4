import Procedures
import ProcedureTestSupport
import Testing

/// What conditions keep alive, and how long.
@Suite(.hangLimit) struct ConditionMemoryTests {
  private let scheduler = ManualScheduler()
  private let released = Counter()

  private func tracker() -> Tracker { Tracker { [released] in released.increment() } }

  @Test("F4: conditions are released when the procedure finishes", arguments: Form.allCases)
  func conditions(form: Form) {
    let procedure = TracedProcedure()
    for _ in 0..<3 {
      let tracker = tracker()
      let inner = scripted("a", .satisfied, form)
      procedure.add(
        condition: AnyCondition(inner).withPrerequisites { _ in
          withExtendedLifetime(tracker) { [BlockProcedure {}] }
        })
    }
    ProcedureQueue(scheduler: scheduler).add(procedure)
    #expect(procedure.conditions.count == 3)
    scheduler.run()
    #expect(procedure.isFinished && procedure.conditions.isEmpty)
    #expect(released.value == 3)
  }

  @Test("F4: neither procedure nor condition outlives a cancel while it is awaited")
  func cancelledWhileAwaited() {
    final class Tracked: Procedure, @unchecked Sendable {
      let tracker: Tracker
      init(_ tracker: Tracker) { self.tracker = tracker }
      override func execute() { finish() }
    }
    do {
      let procedure = Tracked(tracker())
      let inCondition = tracker()
      let answers = Recorder<ConditionAnswer>()
      procedure.add(
        condition: AnswerCondition { _, answer in
          withExtendedLifetime(inCondition) { answers.note(answer) }
        })
      ProcedureQueue(scheduler: scheduler).add(procedure)
      scheduler.run()
      procedure.cancel()
      scheduler.run()
      #expect(procedure.isFinished)
    }
    #expect(released.value == 2)
  }

  @Test(
    "F4: a condition that excludes others is released, whether it held, waited or was cancelled")
  func exclusive() {
    final class Tracked: Procedure, @unchecked Sendable {
      let tracker: Tracker
      init(_ tracker: Tracker, _ domain: ExclusionDomain) {
        self.tracker = tracker
        super.init()
        add(condition: MutuallyExclusive(named: "a", in: domain))
        add(condition: MutuallyExclusive(named: "b", in: domain))
      }
      override func execute() {}
      override func procedureDidCancel(withErrors errors: [any Error]) {
        if isExecuting { finish() }
      }
    }
    let queue = ProcedureQueue(scheduler: scheduler)
    do {
      let domain = ExclusionDomain(name: "memory")
      let procedures = (0..<3).map { _ in Tracked(tracker(), domain) }
      queue.add(procedures)
      scheduler.run()
      procedures[1].cancel()
      procedures[0].finish()
      scheduler.run()
      procedures[2].finish()
      scheduler.run()
    }
    #expect(queue.count == 0 && released.value == 3)
  }

  @Test(
    "F4: a procedure that was never added goes with its last reference, and its conditions with it")
  func neverAdded() {
    do {
      let tracker = tracker()
      let procedure = TracedProcedure()
      procedure.add(condition: BlockCondition { withExtendedLifetime(tracker) { true } })
    }
    #expect(released.value == 1)
  }
}
