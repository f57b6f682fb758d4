import Procedures
import ProcedureTestSupport
import Testing

@Suite struct BlockProcedureTests {
  private let scheduler = ManualScheduler()
  private var queue: ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("a block runs once and finishes the procedure, with what it throws")
  func outcomes() {
    let fine = BlockProcedure {}
    let failing = BlockProcedure { throw TestError("e") }
    queue.add(fine, failing)
    scheduler.run()
    #expect("\(fine.outcome!)" == "succeeded" && "\(failing.outcome!)" == "failed: e")
  }

  @Test("CancellationError after a cancel is the cancel; without one it is a failure")
  func cancellationError() {
    let cancelled = BlockProcedure { procedure in
      procedure.cancel()
      try procedure.cancellationToken.checkCancellation()
    }
    let failing = BlockProcedure { throw CancellationError() }
    queue.add(cancelled, failing)
    scheduler.run()
    #expect("\(cancelled.outcome!)" == "cancelled" && cancelled.errors.isEmpty)
    #expect(failing.failed && !failing.isCancelled)
  }

  @Test("F4: the block is let go of when the procedure has finished, also if it never ran")
  func letsGo() {
    let released = Counter()
    func make() -> BlockProcedure {
      let tracker = Tracker { released.increment() }
      return BlockProcedure { withExtendedLifetime(tracker) {} }
    }
    let (ran, cancelled) = (make(), make())
    queue.add(ran, cancelled)
    cancelled.cancel()
    scheduler.run()
    #expect(ran.isFinished && cancelled.isFinished)
    #expect(released.value == 2)
    withExtendedLifetime((ran, cancelled)) {}
  }
}
