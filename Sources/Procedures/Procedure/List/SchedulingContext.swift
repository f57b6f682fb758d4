internal import Dispatch
internal import ProcedurePrimitives

/// The context that a queue shares with the groups on it, however deep.
package final class SchedulingContext: Sendable {
  let scheduler: any Scheduler
  let clock: TimerClock
  /// How long a worker goes on before it makes room for others: the scheduler's.
  let stretch: WorkerStretch
  /// Whether workers are blocks of a queue of the user, which may never begin: the scheduler's.
  let mayLackWorkers: Bool
  let supervisor: QueueSupervisor
  /// The supervisor's.
  private let stuckNote: StuckNote

  /// Whether it is that of procedures on no queue.
  let isDetached: Bool

  init(
    scheduler: any Scheduler, clock: TimerClock, supervisor: QueueSupervisor,
    isDetached: Bool = false
  ) {
    self.isDetached = isDetached
    self.supervisor = supervisor
    stuckNote = supervisor.stuckNote
    self.scheduler = scheduler
    self.clock = clock
    stretch = scheduler.stretch
    mayLackWorkers = scheduler.underlyingQueue != nil
  }

  /// Whether the supervisor is to be told of lists in which members wait that no worker can help.
  var wantsStuckLists: Bool { @inline(__always) get { stuckNote.isWanted } }

  /// Whether the supervisor is to be told that a member may have begun to wait.
  var wantsLooks: Bool { @inline(__always) get { supervisor.wantsLooks } }

  /// Where turns of procedures run that are on no queue.
  static var detached: SchedulingContext { DetachedSurroundings.current.context }
}

/// The executor that tasks prefer which evaluate conditions: what such a task does between two suspensions is one
/// submission to the scheduler. So it runs on the queue's underlying Dispatch queue, if that has one, and a simulation
/// sees each step. `ProcedureTask` is the executor of procedures.
extension SchedulingContext: TaskExecutor {
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    scheduler.submit(quality: nil) {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

/// Where turns of procedures run that are on no queue, and where their time comes from.
///
/// That is Dispatch, unless a simulation has put itself in its place for as long as a closure runs,
/// and in the tasks that are started there. Asked only when a procedure without a queue has something
/// to do, and once for each group that is made; as long as there was no simulation, that is one
/// atomic load.
package final class DetachedSurroundings: Sendable {
  let context: SchedulingContext

  package init(scheduler: any Scheduler, clock: TimerClock) {
    context = SchedulingContext(
      scheduler: scheduler, clock: clock, supervisor: QueueSupervisor(), isDetached: true)
  }

  private static let onDispatch = DetachedSurroundings(
    scheduler: DispatchScheduler(line: .shared(.default)), clock: .continuous)
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

/// Random numbers of the system; in a simulation those of its seed, so that a run of it can be repeated.
struct SurroundingGenerator: RandomNumberGenerator, Sendable {
  private var system = SystemRandomNumberGenerator()

  mutating func next() -> UInt64 {
    DetachedSurroundings.current.context.scheduler.drawNumber() ?? system.next()
  }
}
