internal import ProcedurePrimitives

/// What a queue shares with the groups on it, however deep.
package final class SchedulingContext: Sendable {
  let scheduler: any Scheduler
  let clock: TimerClock
  /// How long a worker goes on before it makes room for others: the scheduler's.
  let stretch: WorkerStretch
  /// Where tasks of its procedures run.
  let executor: ContextExecutor
  let supervisor: QueueSupervisor

  /// Whether it is that of procedures on no queue.
  let isDetached: Bool

  init(
    scheduler: any Scheduler, clock: TimerClock, supervisor: QueueSupervisor,
    isDetached: Bool = false
  ) {
    self.isDetached = isDetached
    self.supervisor = supervisor
    self.scheduler = scheduler
    self.clock = clock
    stretch = scheduler.stretch
    executor = ContextExecutor(scheduler: scheduler)
  }

  /// Whether the supervisor is to be told of lists in which members wait. Counts no reference.
  @inline(__always)
  var wantsStuckLists: Bool {
    unsafe Unmanaged.passUnretained(supervisor)._withUnsafeGuaranteedRef { $0.wantsStuckLists }
  }

  /// Where turns of procedures run that are on no queue.
  static var detached: SchedulingContext { DetachedSurroundings.current.context }
}
