internal import Dispatch
internal import ProcedurePrimitives

/// The context that a queue shares with the groups on it, at any depth.
package final class SchedulingContext: Sendable {
  let scheduler: any Scheduler
  let clock: TimerClock
  /// How long a worker goes on before it yields to others: the scheduler's value.
  let quantum: WorkerQuantum
  /// Whether workers are blocks of a queue of the user, which may never begin: the scheduler's
  /// value.
  let mayLackWorkers: Bool
  let supervisor: QueueSupervisor
  private let stuckNote: StuckNote

  /// Whether it is the context of procedures on no queue.
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
    quantum = scheduler.quantum
    mayLackWorkers = scheduler.underlyingQueue != nil
  }

  /// Whether the supervisor wants to know of lists in which members wait that no worker can help.
  var wantsStuckLists: Bool { @inline(__always) get { stuckNote.isWanted } }

  /// Whether the supervisor wants to know that a member may have begun to wait.
  var wantsLooks: Bool { @inline(__always) get { supervisor.wantsLooks } }

  /// The context for turns of procedures on no queue.
  static var detached: SchedulingContext { replacement ?? DetachedSurroundings.onDispatch.context }

  /// That of a simulation which the caller is in; nil outside of one.
  static var replacement: SchedulingContext? { HelperExecutor.current as? SchedulingContext }
}

/// The preferred executor of tasks that evaluate conditions. The work of such a task between two
/// suspensions is one submission to the scheduler: it runs on the queue's underlying Dispatch
/// queue, if there is one, and a simulation sees each step. `ProcedureTask` is the executor of
/// procedures.
extension SchedulingContext: TaskExecutor {
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    scheduler.submit(quality: nil) {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

/// The scheduler for turns of procedures on no queue, and their clock.
///
/// That is Dispatch, unless a simulation has replaced it while a closure runs, and in the tasks
/// that are started there. It is read only when a procedure without a queue has something to do,
/// and once for each group that is made; until the first simulation, that costs one atomic load.
package final class DetachedSurroundings: Sendable {
  let context: SchedulingContext

  package init(scheduler: any Scheduler, clock: TimerClock) {
    context = SchedulingContext(
      scheduler: scheduler, clock: clock, supervisor: QueueSupervisor(), isDetached: true)
  }

  fileprivate static let onDispatch = DetachedSurroundings(
    scheduler: DispatchScheduler(line: .shared(.default)), clock: .continuous)

  /// Runs procedures without a queue here while `body` runs, on this thread and in tasks that it
  /// starts; and the tasks that calls of this library make there.
  package func replacingDispatch<Result>(_ body: () throws -> Result) rethrows -> Result {
    try HelperExecutor.replacing(with: context, body)
  }
}

/// Random numbers of the system; in a simulation, of its seed, so that a run can be repeated.
struct SurroundingGenerator: RandomNumberGenerator, Sendable {
  private var system = SystemRandomNumberGenerator()

  mutating func next() -> UInt64 {
    SchedulingContext.detached.scheduler.drawNumber() ?? system.next()
  }
}
