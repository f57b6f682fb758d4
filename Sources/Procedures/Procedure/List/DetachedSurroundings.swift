internal import Dispatch
internal import ProcedurePrimitives

/// Where turns of procedures run that are on no queue, and where their time comes from.
///
/// That is Dispatch, unless a simulation has put itself in its place for as long as a closure runs,
/// and in the tasks that are started there. Asked only when a procedure without a queue has something
/// to do, and once for each group that is made; as long as there was no simulation, that is one
/// atomic load.
package final class DetachedSurroundings: Sendable {
  let context: SchedulingContext
  let list: ReadyList

  package init(scheduler: any Scheduler, clock: TimerClock) {
    context = SchedulingContext(
      scheduler: scheduler, clock: clock, supervisor: QueueSupervisor(), isDetached: true)
    list = ReadyList(context: context)
  }

  private static let onDispatch = DetachedSurroundings(
    scheduler: DispatchScheduler(quality: .default), clock: .continuous)
  private static let replacement = TaskLocal<DetachedSurroundings?>(wrappedValue: nil)

  /// Whether there ever was a replacement.
  private static let wereReplaced = AtomicByte(0)

  static var current: DetachedSurroundings {
    if wereReplaced.load() == 0 { return onDispatch }
    return replacement.get() ?? onDispatch
  }

  /// Has procedures without a queue run here, as long as `body` runs, on this thread and in tasks
  /// that it starts.
  package func replacingDispatch<Result>(_ body: () throws -> Result) rethrows -> Result {
    Self.wereReplaced.store(1)
    return try Self.replacement.withValue(self, operation: body)
  }
}
