internal import ProcedurePrimitives

/// Runs an `async` closure as a task, and finishes with its value, or fails with the error that it
/// throws.
///
/// ```swift
/// let page = AsyncResultProcedure { try await client.load(url) }
/// queue.add(page)
/// print(try await page.value)
/// ```
///
/// The task runs on the queue's workers: on its underlying Dispatch queue, if it has one. While the
/// task is suspended, the procedure holds its slot but no thread. A closure that is written on an
/// actor, in a method of a `@MainActor` type for example, or as `{ @MainActor in … }`, runs there,
/// like the closure of a `Task`.
///
/// ## Cancellation
/// Cancelling the procedure cancels the task, on the thread that cancels, before `cancel` returns.
/// The procedure finishes when the body ends, not before. A `CancellationError` thrown after a
/// cancel counts as the cancel; thrown without one it is a failure, like any other error.
///
/// ## Task-local values and priority
/// If code that runs in a task adds the procedure to its queue or group, the body inherits that
/// task's task-local values and priority; otherwise it has no values, and the default priority. A
/// closure with `.callback` inherits neither.
///
/// ## Ordering
/// The body runs outside of the procedure's turns: observers may be called for a cancel while it
/// runs.
nonisolated open class AsyncResultProcedure<Output: Sendable>: Procedure, EndsByItself,
  OutputProcedure, AsyncBody, @unchecked Sendable
{
  /// The user's closure, with its output boxed for storage.
  typealias Body = @Sendable (AsyncResultProcedure<Output>) async throws -> StoredValue

  enum AsyncWork: Sendable {
    case task(Body)
    /// Used for the output `Void`: the task calls the user's closure without a wrapper.
    case action(@isolated(any) @Sendable () async throws -> Void)
    case handle(@Sendable (AsyncResultProcedure<Output>, FinishHandle<Output>) throws -> Void)
  }

  /// Once the procedure is on a queue, only its turn accesses this, and releases it there.
  @safe @exclusivity(unchecked) private final var work: AsyncWork?

  final let runsOnMainActor: Bool

  /// Whether the closure will begin on the main actor, and has not. Guarded by the procedure's
  /// lock.
  private final var isBodyAwaited = false

  /// The task while it runs, or waits to. Guarded by the procedure's lock; written before it is on
  /// a queue, and in its turn.
  private final var task: ProcedureTask?

  init(name: String?, _ work: AsyncWork, isolation: (any Actor)? = nil) {
    self.work = work
    runsOnMainActor = MainActor.isIsolation(isolation)
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that runs `body` as a task, on the actor that it is written on, if any.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - body: the procedure ends with its result, or its error.
  public init(
    name: String? = nil,
    @_inheritActorContext @_implicitSelfCapture
    _ body: @escaping @isolated(any) @Sendable () async throws -> Output
  ) {
    work = .task { _ in StoredValue(try await body()) }
    runsOnMainActor = MainActor.isIsolation(body.isolation)
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure from a function whose type does not state its isolation, such as a
  /// `nonisolated(nonsending)` one.
  @_disfavoredOverload
  public init<Failure: Error>(
    name: String? = nil, _ body: @escaping @Sendable () async throws(Failure) -> Output
  ) {
    work = .task { _ in StoredValue(try await body()) }
    runsOnMainActor = false
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that runs `body`, which is handed the procedure, as a task.
  public init(
    name: String? = nil,
    @_inheritActorContext @_implicitSelfCapture
    _ body:
      @escaping @isolated(any) @Sendable (_ procedure: AsyncResultProcedure<Output>) async throws ->
      Output
  ) {
    work = .task { procedure in StoredValue(try await body(procedure)) }
    runsOnMainActor = MainActor.isIsolation(body.isolation)
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that passes itself to a function whose type does not state its isolation.
  @_disfavoredOverload
  public init<Failure: Error>(
    name: String? = nil,
    _ body:
      @escaping @Sendable (_ procedure: AsyncResultProcedure<Output>) async throws(Failure) ->
      Output
  ) {
    work = .task { procedure in StoredValue(try await body(procedure)) }
    runsOnMainActor = false
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure for an interface with a completion handler.
  ///
  /// ```swift
  /// AsyncResultProcedure<Response>(.callback) { finish in
  ///   client.send(request) { result in finish(result) }
  /// }
  /// ```
  ///
  /// The queue's worker calls `start` once. Call `finish` when the work is done, on any thread. An
  /// error that `start` throws ends the procedure. A closure without `.callback` ends the procedure
  /// when it returns.
  public init(
    name: String? = nil, _ form: FinishHandle<Output>.Form,
    _ start: @escaping @Sendable (_ finish: FinishHandle<Output>) throws -> Void
  ) {
    work = .handle { _, finish in try start(finish) }
    runsOnMainActor = false
    super.init()
    if let name { self.name = name }
  }

  /// Starts the task, or calls the closure.
  public final override func execute() {
    switch work {
    case .task(let body):
      work = nil
      run(runsOnMainActor ? onMainActor(body) : body)
    case .action(let action):
      work = nil
      if runsOnMainActor { runOnMainActor(action) } else { run(action) }
    case .handle(let start):
      work = nil
      call(start)
    case nil: break
    }
  }

  /// Unavailable: the closure received the procedure, not a finish handle.
  @available(
    *, unavailable,
    message:
      "this closure ends the procedure when it returns; for one that calls back later write AsyncProcedure(.callback) { finish in … }"
  )
  public final func callAsFunction(_ result: Any? = nil) {}

  /// Unavailable for the same reason.
  @available(
    *, unavailable,
    message:
      "this closure ends the procedure when it returns; for one that calls back later write AsyncProcedure(.callback) { finish in … }"
  )
  @discardableResult
  public final func callAsFunction(_ result: Result<Output, any Error>) -> Output {
    unavailableName()
  }

  deinit {
    if work != nil { task?.finishEmpty() }
  }

  /// If a task adds the procedure, creates the body's task inside it, so that the body inherits its
  /// task-local values and its priority.
  private func makeInheritingTask() {
    switch work {
    case .task, .action: break
    case .handle, nil: return
    }
    guard ProcedureTask.inheritsSomething else { return }
    let task = ProcedureTask()
    task.makeInheritingTask()
    withCore { _ in self.task = task }
  }

  override class var traits: ProcedureTraits { [.hasAsyncBody, .keepsOutput] }

  final override func workDidEnter(_ phase: WorkPhase) {
    switch phase {
    case .queued: makeInheritingTask()
    case .interrupted: running?.cancel()
    case .over: releaseWork()
    case .cancelled, .deallocated: break
    }
  }

  final override var begun: WorkerNext { task.map(WorkerNext.firstStep) ?? .anotherJob }

  final override func text(for use: TextUse) -> String? {
    guard use == .callbackInitializer else { return nil }
    return "Async\(Output.self == Void.self ? "" : "Result")Procedure(.callback) { finish in … }"
  }

  // MARK: As diagnostics see it

  final var bodyTask: BodyTask? { running.map { BodyTask($0) } }

  final var isStepDue: Bool { peek { _ in task }?.isStepDue ?? false }

  final var awaitsMainActor: Bool { peek { _ in isBodyAwaited } }

  private var running: ProcedureTask.Running? { peek { _ in task?.task } }

  // MARK: A closure on the main actor

  /// The closure, which notes that it begins. It is called on the main actor, so that it begins
  /// there at once.
  private func onMainActor(_ body: @escaping Body) -> Body {
    withCore { core in
      isBodyAwaited = true
      core.noteBodyAwaited()
    }
    return { @MainActor procedure in
      procedure.withCore { core in
        procedure.isBodyAwaited = false
        core.noteBodyBegun()
      }
      return try await body(procedure)
    }
  }

  private func runOnMainActor(
    _ action: @escaping @isolated(any) @Sendable () async throws -> Void
  ) {
    run(onMainActor { _ in StoredValue(try await action()) })
  }

  // MARK: The task

  private func run(_ body: @escaping Body) {
    if let task {
      task.setWork { [self] in
        do { bodyEnded(with: try await body(self)) } catch { bodyEnded(throwing: error) }
      }
    } else {
      let task = ProcedureTask()
      let running = ProcedureTask.Running(executorPreference: task) { [self] in
        do { bodyEnded(with: try await body(self)) } catch { bodyEnded(throwing: error) }
      }
      note(task, running)
    }
  }

  // Repeats `run(_:)` above on purpose: a closure that is passed on costs 10 to 20 % more than a
  // closure that is written where the task is made.
  private func run(_ action: @escaping @isolated(any) @Sendable () async throws -> Void) {
    if let task {
      task.setWork { [self] in
        do { bodyEnded(try await action()) } catch { bodyEnded(throwing: error) }
      }
    } else {
      let task = ProcedureTask()
      let running = ProcedureTask.Running(executorPreference: task) { [self] in
        do { bodyEnded(try await action()) } catch { bodyEnded(throwing: error) }
      }
      note(task, running)
    }
  }

  /// Stores the started task. A concurrent cancel either finds it, or is found here: both hold the
  /// lock.
  private func note(_ task: ProcedureTask, _ running: ProcedureTask.Running) {
    let isCancelled = withCore { core in
      task.task = running
      self.task = task
      return core.life.cancel.isAllowed
    }
    if isCancelled { running.cancel() }
  }

  private func bodyEnded(_ nothing: Void) {
    bodyEnded(with: StoredValue(nothing))
  }

  /// Like `finishByItself(with:)`, but called in a step of the task.
  private func bodyEnded(throwing error: any Error) {
    if error is CancellationError, isCancelled { return bodyEnded(with: StoredValue()) }
    trackUnobservedErrors()
    bodyEnded(with: StoredValue(failure: error))
  }

  private func bodyEnded(with output: consuming StoredValue) {
    let failure = output.failure
    let effect = noteFinish(with: output, isByItself: true)
    // With `.turn` this thread owns the turn, so it may read `task` without the lock.
    if effect == .turn, task?.keepTurn(of: self) == true { return }
    _ = answer(to: effect, with: failure.map { [$0] } ?? [], isByItself: true)
  }

  // Kept out of `execute()`, which otherwise would look up the metadata of the handle's type for
  // every kind of work.
  @inline(never)
  private func call(
    _ start: @Sendable (AsyncResultProcedure<Output>, FinishHandle<Output>) throws -> Void
  ) {
    let finish = FinishHandle(self)
    do { try start(self, finish) } catch { finish(.failure(error)) }
  }

  private func releaseWork() {
    let hasExecuted = work == nil
    work = nil
    let released = withCore { _ in task.take() }
    if !hasExecuted { released?.finishEmpty() }
  }
}
