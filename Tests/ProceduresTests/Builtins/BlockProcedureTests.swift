import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct BlockProcedureTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("a block runs once and finishes the procedure, with what it throws")
  func outcomes() {
    let fine = BlockProcedure {}
    let failing = BlockProcedure { throw TestError("e") }
    makeQueue().add(fine, failing)
    scheduler.run()
    #expect(fine.outcome == .succeeded)
    #expect(failing.outcome == .failed([TestError("e")]))
  }

  @Test("CancellationError after a cancel is the cancel; without one it is a failure")
  func cancellationError() {
    let cancelled = BlockProcedure { procedure in
      procedure.cancel()
      try procedure.cancellationToken.checkCancellation()
    }
    let failing = BlockProcedure { throw CancellationError() }
    makeQueue().add(cancelled, failing)
    scheduler.run()
    #expect(cancelled.outcome == .cancelled([]))
    #expect(cancelled.errors.isEmpty)
    #expect(failing.failed && !failing.isCancelled)
  }

  @Test("F4: the block is released when the procedure has finished, also if it never ran")
  func letsGo() {
    let released = Counter()
    func make() -> BlockProcedure {
      let tracker = Tracker { released.increment() }
      return BlockProcedure { withExtendedLifetime(tracker) {} }
    }
    let (ran, cancelled) = (make(), make())
    makeQueue().add(ran, cancelled)
    cancelled.cancel()
    scheduler.run()
    #expect(ran.isFinished && cancelled.isFinished)
    #expect(released.value == 2)
    withExtendedLifetime((ran, cancelled)) {}
  }

  @Test("a closure that is handed the procedure may be run by its deinit")
  func executedInDeinit() {
    final class Last: BlockProcedure, @unchecked Sendable {
      deinit { execute() }
    }
    let names = Recorder<String>()
    do {
      _ = Last(name: "last") { procedure in names.note(procedure.name) }
    }
    #expect(names.events == ["last"])
  }
}
