import Dispatch
import ProcedureTestSupport
import Testing

@testable import Procedures

/// Tasks that are made where their procedure is added, before it is known where they run.
@Suite(.hangLimit) struct ProcedureTaskTests {
  @Test("T3: a task that was made earlier does its work where the procedure runs")
  func madeEarlier() async throws {
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "serial")
    queue.setSpecific(key: key, value: true)
    let context = SchedulingContext(
      scheduler: DispatchScheduler(underlyingQueue: queue), clock: TestClock().clock,
      supervisor: QueueSupervisor())
    let isThere = Recorder<Bool?>()
    let task = ProcedureTask()
    task.makeInheritingTask()
    task.setWork { isThere.note(DispatchQueue.getSpecific(key: key)) }
    task.submitFirstStep(on: context)
    try await task.task?.value
    #expect(isThere.events == [true])
  }

  @Test(
    "T3, F4: a task whose procedure never executes ends and is released", arguments: [true, false])
  func neverExecuted(isCancelled: Bool) {
    let scheduler = ManualScheduler()
    let context = SchedulingContext(
      scheduler: scheduler, clock: TestClock().clock, supervisor: QueueSupervisor())
    weak var released: ProcedureTask?
    do {
      let task = ProcedureTask()
      released = task
      task.makeInheritingTask()
      if isCancelled { task.task?.cancel() }
      task.submitFirstStep(on: context)
      task.task = nil
    }
    #expect(released != nil)
    scheduler.run()
    #expect(released == nil)
  }

  @Test(
    "F4: a procedure that a task added, and that never executes, is released with its closure's captures"
  )
  func releasedUnexecuted() async {
    final class Kept: Sendable {}
    weak var kept: Kept?
    do {
      let capture = Kept()
      kept = capture
      let procedure = AsyncProcedure { _ = capture }
      procedure.cancel()
      let queue = ProcedureQueue()
      queue.add(procedure)
      await queue.waitUntilAllFinished()
      // One of a group that never runs.
      _ = GroupProcedure(AsyncProcedure { _ = capture })
    }
    // A worker may not have left the procedure yet.
    #expect(await eventually { kept == nil })
  }
}
