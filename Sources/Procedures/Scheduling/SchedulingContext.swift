internal import Dispatch
internal import ProcedurePrimitives

/// What a queue shares with the groups on it, however deep.
package final class SchedulingContext: Sendable {
  let scheduler: any Scheduler
  let clock: TimerClock
  /// How long a worker goes on before it makes room for others: the scheduler's.
  let stretch: WorkerStretch
  /// Where tasks of its procedures run.
  let executor: ContextExecutor
  let watch: WaitWatch
  let diagnostics = QueueDiagnostics()

  /// Whether it is that of procedures on no queue.
  let isDetached: Bool

  package init(scheduler: any Scheduler, clock: TimerClock, isDetached: Bool = false) {
    self.isDetached = isDetached
    self.scheduler = scheduler
    self.clock = clock
    stretch = scheduler.stretch
    executor = ContextExecutor(scheduler: scheduler)
    watch = WaitWatch(scheduler: scheduler, isEnabled: !isDetached)
  }

  /// Where turns of procedures run that are on no queue.
  static var detached: SchedulingContext { DetachedSurroundings.current.context }
}
