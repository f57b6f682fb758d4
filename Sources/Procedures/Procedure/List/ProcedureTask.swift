internal import ProcedurePrimitives

/// The task of one procedure, and the executor that it prefers: it runs where the procedure's queue does.
///
/// A step is the work of a task between two suspensions. The worker that executes the procedure runs the
/// first one itself, when the turn is over: the body is no part of a turn. Each later step is one
/// submission to the queue's scheduler. A thread in whose step the body ends goes on as a worker, with
/// the turn in which the procedure finishes.
///
/// A worker whose stretch is over submits the first step, too. In a simulation a stretch is one turn, so
/// that it sees each step.
final class ProcedureTask: TaskExecutor, @unchecked Sendable {
  /// No optional closure: each way into one and out of it is a thunk, with memory of its own.
  private enum Work: Sendable {
    case none
    case known(@concurrent @Sendable () async -> Void)
  }

  /// It never fails. But the runtime knows one kind of task, which may: the closure of another is put into one of
  /// those.
  typealias Running = Task<Void, any Error>

  /// Nil while it is being made. Guarded by the procedure's lock.
  var task: Running?

  // This lock guards everything below.
  private let lock = OwnedLock()
  /// The work of a task that was made before that was known.
  private var work = Work.none
  /// Where the steps run. Nil until the procedure has executed, or ends without that.
  private var context: SchedulingContext?
  /// The step that came before that: for the worker that executes the procedure.
  private var firstStep: UnownedJob?
  /// What notes its steps, if the procedure is recorded. Written before the first one.
  private var steps: RecordedSteps?
  /// Whether a step was submitted, and no thread has come to it.
  private var isDue = false
  /// Whether a thread runs a step, and will look whether the procedure's turn was left to it.
  private var isInStep = false
  /// The procedure, if its turn was. It is a member of its list, so that this need not own it.
  private unowned(unsafe) var turnOwner: Procedure?

  // MARK: Made where the procedure was added

  /// Whether the caller runs in a task, which may have task-local values and a priority.
  static var inheritsSomething: Bool {
    // Not a comparison with nil, nor a property of the task: both cost as much as adding does.
    unsafe withUnsafeCurrentTask { task in if case .some = unsafe task { true } else { false } }
  }

  /// Makes the task, which has the caller's task-local values and priority: there is no other way to hand those on.
  ///
  /// It begins when the procedure has executed, and costs its memory meanwhile.
  func waitForWork() {
    task = Running(executorPreference: self) { [self] in
      if case .known(let work) = takeWork() { await work() }
    }
  }

  func setWork(_ work: @escaping @concurrent @Sendable () async -> Void) {
    locked { self.work = .known(work) }
  }

  private func takeWork() -> Work { locked { exchange(&work, with: .none) } }

  /// The procedure ends without having executed.
  func endWithoutWork() { submitFirstStep(on: .detached) }

  // MARK: Steps

  /// Has the step run, once it is known where.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let context = locked { () -> SchedulingContext? in
      if self.context == nil { firstStep = job }
      if let steps { steps.noteEnqueued() }
      isDue = self.context != nil
      return self.context
    }
    if let context { submit(job, on: context) }
  }

  /// Notes its steps there. Called before it begins; the first step may have been enqueued.
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

  /// Runs the first step, on the worker that executes the procedure, which holds no turn.
  ///
  /// - Returns: whether the caller holds the procedure's turn now: its body has ended.
  func runFirstStep(on context: SchedulingContext) -> Bool {
    guard let job = takeFirstStep(on: context, runsIt: true) else { return false }
    return run(job) != nil
  }

  /// Has the first step run later, perhaps by another thread; a later step, too.
  @inline(never)
  func submitFirstStep(on context: SchedulingContext) {
    if let job = takeFirstStep(on: context, runsIt: false) { submit(job, on: context) }
  }

  /// - Returns: nil if the task has not come so far. Then it submits the step itself.
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

  /// The body has ended in a step, and with that got the procedure's turn.
  ///
  /// - Returns: whether the thread that runs the step goes on with it. Otherwise the caller requests it.
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
