internal import ProcedurePrimitives

/// The task of one procedure, and the executor that it prefers: it runs on the procedure's queue.
///
/// A step is the work of a task between two suspensions. The worker that executes the procedure
/// runs the first step itself, after the turn: the body is no part of a turn. Each later step is
/// one submission to the queue's scheduler. The thread in whose step the body ends continues as a
/// worker, with the turn in which the procedure finishes.
///
/// A worker whose quantum is over submits the first step as well. In a simulation a quantum is one
/// turn, so that it sees each step.
final class ProcedureTask: TaskExecutor, @unchecked Sendable {
  /// Not an optional closure: each conversion to or from one is a thunk, with memory of its own.
  private enum Work: Sendable {
    case none
    case known(@concurrent @Sendable () async -> Void)
  }

  /// It never throws. But the runtime has only one kind of task, a throwing one: the closure of any
  /// other kind is wrapped in one.
  typealias Running = Task<Void, any Error>

  /// Nil while it is being made. Guarded by the procedure's lock.
  var task: Running?

  // This lock guards everything below.
  private let lock = OwnedLock()
  /// The work of a task that was made before its work was known.
  private var work = Work.none
  /// Where the steps run. Nil until the procedure has executed, or finishes without that.
  private var context: SchedulingContext?
  /// The step that was enqueued before the context was known: for the worker that executes the
  /// procedure.
  private var firstStep: UnownedJob?
  /// Records the steps, if the procedure is recorded. Written before the first step.
  private var steps: RecordedSteps?
  /// Whether a step was submitted that has not reached a thread.
  private var isDue = false
  /// Whether a thread runs a step: it checks afterwards whether the procedure's turn was left to
  /// it.
  private var isInStep = false
  /// The procedure, if its turn was left to the thread. Its list keeps it, so this need not own it.
  private unowned(unsafe) var turnOwner: Procedure?

  // MARK: Made where the procedure was added

  /// Whether the caller runs in a task, which may have task-local values and a priority.
  static var inheritsSomething: Bool {
    // Neither a comparison with nil nor a property of the task: both cost as much as adding does.
    unsafe withUnsafeCurrentTask { task in if case .some = unsafe task { true } else { false } }
  }

  /// Makes the task, which gets the caller's task-local values and priority: there is no other way
  /// to pass them on.
  ///
  /// It begins when the procedure has executed, and occupies its memory until then.
  func makeInheritingTask() {
    task = Running(executorPreference: self) { [self] in
      if case .known(let work) = takeWork() { await work() }
    }
  }

  func setWork(_ work: @escaping @concurrent @Sendable () async -> Void) {
    locked { self.work = .known(work) }
  }

  private func takeWork() -> Work { locked { exchange(&work, with: .none) } }

  /// The procedure finishes without having executed.
  func finishEmpty() { submitFirstStep(on: .detached) }

  // MARK: Steps

  /// Submits the step, once its context is known.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The first step may come before the worker that executes the procedure: it is kept for that
    // one. Later steps know where to run.
    let context = locked { () -> SchedulingContext? in
      if self.context == nil { firstStep = job }
      if let steps { steps.noteEnqueued() }
      isDue = self.context != nil
      return self.context
    }
    if let context { submit(job, on: context) }
  }

  /// Records its steps in `steps`. Called before it begins; the first step may have been enqueued.
  func record(in steps: RecordedSteps) {
    locked {
      self.steps = steps
      if firstStep != nil { steps.noteEnqueued() }
    }
  }

  private func submit(_ job: UnownedJob, on context: SchedulingContext) {
    context.scheduler.submit(quality: nil) {
      self.locked { (self.isInStep, self.isDue) = (true, false) }
      if let procedure = self.run(job) {
        Worker.goOn(withTurnOf: procedure, on: context)
      }
    }
  }

  /// Runs the first step, on the worker that executes the procedure and holds no turn.
  ///
  /// - Returns: whether the caller holds the procedure's turn now: its body has ended.
  func runFirstStep(on context: SchedulingContext) -> Bool {
    guard let job = takeFirstStep(on: context, runsIt: true) else { return false }
    return run(job) != nil
  }

  /// Submits the first step, which another thread may run, like a later step.
  @inline(never)
  func submitFirstStep(on context: SchedulingContext) {
    if let job = takeFirstStep(on: context, runsIt: false) { submit(job, on: context) }
  }

  /// - Returns: nil if the task has not enqueued its first step. It will submit the step itself.
  private func takeFirstStep(on context: SchedulingContext, runsIt: Bool) -> UnownedJob? {
    locked {
      self.context = context
      isInStep = runsIt && firstStep != nil
      isDue = !runsIt && firstStep != nil
      return firstStep.take()
    }
  }

  /// - Returns: the procedure, if the caller holds its turn now.
  private func run(_ job: UnownedJob) -> Procedure? {
    if let steps { return run(job, notingIn: steps) }
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    return endStep()
  }

  @inline(never)
  private func run(_ job: UnownedJob, notingIn steps: RecordedSteps) -> Procedure? {
    steps.noteBegun()
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    steps.noteEnded()
    return endStep()
  }

  /// - Returns: the procedure, if the caller holds its turn now.
  private func endStep() -> Procedure? {
    locked {
      isInStep = false
      return unsafe turnOwner.take()
    }
  }

  /// The body has ended in a step, and the caller got the procedure's turn.
  ///
  /// - Returns: whether the thread that runs the step continues with the turn. Otherwise the caller
  ///   requests it.
  func keepTurn(of procedure: Procedure) -> Bool {
    locked {
      if isInStep { unsafe turnOwner = procedure }
      return isInStep
    }
  }

  /// Whether its next step waits for a thread.
  var isStepDue: Bool { locked { isDue } }

  @inline(__always)
  private func locked<Result>(_ body: () -> Result) -> Result {
    lock.acquire()
    defer { lock.release() }
    return body()
  }
}
