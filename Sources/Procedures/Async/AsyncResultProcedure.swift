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
/// The task runs where the queue's procedures run: on its underlying Dispatch queue, if it has one.
/// While it is suspended the procedure holds its slot, and no thread. A closure that is written on
/// an actor, in a method of a `@MainActor` type for example, or as `{ @MainActor in … }`, runs
/// there, like the closure of a `Task`.
///
/// ## Cancellation
/// Cancelling the procedure cancels the task, on the thread that cancels, before `cancel` returns.
/// The procedure finishes when the body ends, not before. A `CancellationError` thrown after a
/// cancel is the cancel; thrown without one it is a failure, as any other error.
///
/// ## Task-local values and priority
/// If it is added to its queue or group by code that runs in a task, the body has the task-local values
/// that are set there, and the priority of that task; if not, none and the default one. That holds for
/// closures without `.callback`.
///
/// ## Ordering
/// The body is no part of a turn: observers may be called for a cancel while it runs.
nonisolated open class AsyncResultProcedure<Output: Sendable>: Procedure, EndsByItself,
  OutputProcedure,
  @unchecked Sendable
{
  /// The closure, which returns the output as it is stored.
  typealias Body = @Sendable (AsyncResultProcedure<Output>) async throws -> StoredValue

  /// The work that it starts when it executes.
  enum AsyncWork: Sendable {
    case task(Body)
    /// For the output `Void`: with nothing between the task and the user's closure.
    case action(@isolated(any) @Sendable () async throws -> Void)
    case handle(@Sendable (AsyncResultProcedure<Output>, FinishHandle<Output>) throws -> Void)
  }

  /// Belongs to the turn, which releases it.
  @safe @exclusivity(unchecked) private final var work: AsyncWork?

  /// Whether the closure is isolated to the main actor.
  final override var runsOnMainActor: Bool { isIsolatedToMainActor }
  private final let isIsolatedToMainActor: Bool

  /// Whether the closure is to begin on the main actor, and has not. Guarded by the procedure's lock.
  private final var isBodyAwaited = false

  /// The task while it runs, or waits to. Guarded by the procedure's lock; written before it is on a queue, and in its
  /// turn.
  private final var task: ProcedureTask?

  init(name: String?, _ work: AsyncWork, isolation: (any Actor)? = nil) {
    self.work = work
    isIsolatedToMainActor = MainActor.isIsolation(isolation)
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
    isIsolatedToMainActor = MainActor.isIsolation(body.isolation)
    super.init()
    if let name { self.name = name }
  }

  /// The same for a function whose isolation is not in its type, such as a `nonisolated(nonsending)` one.
  @_disfavoredOverload
  public init<Failure: Error>(
    name: String? = nil, _ body: @escaping @Sendable () async throws(Failure) -> Output
  ) {
    work = .task { _ in StoredValue(try await body()) }
    isIsolatedToMainActor = false
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
    isIsolatedToMainActor = MainActor.isIsolation(body.isolation)
    super.init()
    if let name { self.name = name }
  }

  /// The same of a function whose isolation is not in its type.
  @_disfavoredOverload
  public init<Failure: Error>(
    name: String? = nil,
    _ body:
      @escaping @Sendable (_ procedure: AsyncResultProcedure<Output>) async throws(Failure) ->
      Output
  ) {
    work = .task { procedure in StoredValue(try await body(procedure)) }
    isIsolatedToMainActor = false
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that starts something with a completion handler.
  ///
  /// ```swift
  /// AsyncResultProcedure<Response>(.callback) { finish in
  ///   client.send(request) { result in finish(result) }
  /// }
  /// ```
  ///
  /// `start` is called once, on the queue's worker, and calls `finish`, or has it called, when the
  /// work is done. An error that it throws ends the procedure. A closure without `.callback` ends the procedure
  /// when it returns.
  public init(
    name: String? = nil, _ form: FinishHandle<Output>.Form,
    _ start: @escaping @Sendable (_ finish: FinishHandle<Output>) throws -> Void
  ) {
    work = .handle { _, finish in try start(finish) }
    isIsolatedToMainActor = false
    super.init()
    if let name { self.name = name }
  }

  /// Starts the task, or calls the closure.
  public final override func execute() {
    switch work {
    case .task(let body):
      work = nil
      run(isIsolatedToMainActor ? onMainActor(body) : body)
    case .action(let action):
      work = nil
      if isIsolatedToMainActor { runOnMainActor(action) } else { run(action) }
    case .handle(let start):
      work = nil
      call(start)
    case nil: break
    }
  }

  /// Not callable: this closure was handed the procedure, not a finish handle.
  @available(
    *, unavailable,
    message:
      "this closure ends the procedure when it returns; for one that calls back later write AsyncProcedure(.callback) { finish in … }"
  )
  public final func callAsFunction(_ result: Any? = nil) {}

  /// Not callable: as above, with a result.
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

  /// Makes the task there, if that is a task too: so it has its task-local values and its priority.
  final override func prepareForQueue() {
    switch work {
    case .task, .action: break
    case .handle, nil: return
    }
    guard ProcedureTask.inheritsSomething else { return }
    let task = ProcedureTask()
    task.makeInheritingTask()
    withCore { _ in self.task = task }
  }

  final override var keepsOutput: Bool { true }

  final override var begun: Begun? { task.map(Begun.task) }

  final override var bodyTask: BodyTask? { running.map { BodyTask($0) } }

  final override var isStepDue: Bool { peek { _ in task }?.isStepDue ?? false }

  private var running: ProcedureTask.Running? { peek { _ in task?.task } }

  // MARK: A closure on the main actor

  final override var awaitsMainActor: Bool { peek { _ in isBodyAwaited } }

  /// The closure, which notes that it begins. It is called on the main actor, so that it begins there at once.
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

  // Like the other, and not one function with it: a closure that is handed on costs a tenth to a fifth more
  // than a closure that stands where the task is made.
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

  /// A cancel that is being delivered finds the task, or is found here.
  private func note(_ task: ProcedureTask, _ running: ProcedureTask.Running) {
    let isCancelled = withCore { core in
      task.task = running
      self.task = task
      return core.life.cancel.isAllowed
    }
    if isCancelled { interrupt() }
  }

  private func bodyEnded(_ nothing: Void) {
    bodyEnded(with: StoredValue(nothing))
  }

  /// As `finishByItself(with:)`, in a step of the task.
  private func bodyEnded(throwing error: any Error) {
    if error is CancellationError, isCancelled { return bodyEnded(with: StoredValue()) }
    trackUnobservedErrors()
    bodyEnded(with: StoredValue(failure: error))
  }

  private func bodyEnded(with output: consuming StoredValue) {
    let failure = output.failure
    let effect = noteFinish(with: output, isByItself: true)
    // Having got the turn, only the caller looks at the task.
    if effect == .turn, task?.keepTurn(of: self) == true { return }
    _ = answer(to: effect, with: failure.map { [$0] } ?? [], isByItself: true)
  }

  // Not a part of `execute()`, which would look for the type of the handle whatever the work is.
  @inline(never)
  private func call(
    _ start: @Sendable (AsyncResultProcedure<Output>, FinishHandle<Output>) throws -> Void
  ) {
    let finish = FinishHandle(self)
    do { try start(self, finish) } catch { finish(.failure(error)) }
  }

  final override var callbackInitializer: String? {
    "Async\(Output.self == Void.self ? "" : "Result")Procedure(.callback) { finish in … }"
  }

  final override func interrupt() { running?.cancel() }

  final override func releaseWork() {
    let hasExecuted = work == nil
    work = nil
    let released = withCore { _ in task.take() }
    if !hasExecuted { released?.finishEmpty() }
  }
}
