/// Runs an `async` closure as a task, and finishes with what it returns, or fails with what it
/// throws.
///
/// ```swift
/// let page = AsyncResultProcedure { try await client.load(url) }
/// queue.add(page)
/// print(try await page.value)
/// ```
///
/// The task runs where the queue's procedures run: on its underlying Dispatch queue, if it has one.
/// While it is suspended the procedure holds its slot, and no thread. A closure that is isolated to
/// an actor, such as `{ @MainActor in … }`, runs there.
///
/// ## Cancellation
/// Cancelling the procedure cancels the task, on the thread that cancels, before `cancel` returns.
/// The procedure finishes when the body ends, not before. A `CancellationError` thrown after a
/// cancel is the cancel; thrown without one it is a failure, as any other error.
///
/// ## Ordering
/// The body is no part of a turn: observers may be told of a cancel while it runs.
nonisolated open class AsyncResultProcedure<Output: Sendable>: Procedure, OutputProcedure,
  @unchecked Sendable
{
  /// What is started when it executes.
  enum Work: Sendable {
    case task(@Sendable (AsyncResultProcedure<Output>) async throws -> Output)
    case handle(@Sendable (AsyncResultProcedure<Output>, FinishHandle<Output>) throws -> Void)
  }

  /// Belongs to the turn, which lets go of it.
  @safe @exclusivity(unchecked) private final var work: Work?

  /// The task while it runs. Guarded by the procedure's lock.
  private final var task: Task<Void, Never>?

  init(_ work: Work) {
    self.work = work
    super.init()
  }

  /// Makes a procedure that runs `body` as a task.
  public init(_ body: @escaping @Sendable () async throws -> Output) {
    work = .task { _ in try await body() }
    super.init()
  }

  /// Makes a procedure that runs `body`, which is handed the procedure, as a task.
  public init(
    _ body: @escaping @Sendable (_ procedure: AsyncResultProcedure<Output>) async throws -> Output
  ) {
    work = .task(body)
    super.init()
  }

  /// Makes a procedure that starts something with a completion handler.
  ///
  /// `start` is called once, on the queue's worker, and calls `finish`, or has it called, when the
  /// work is done. What it throws ends the procedure.
  public init(
    _ start: @escaping @Sendable (_ finish: FinishHandle<Output>) throws -> Void
  ) {
    work = .handle { _, finish in try start(finish) }
    super.init()
  }

  /// Starts the task, or calls the closure.
  public final override func execute() {
    switch work.take() {
    case .task(let body): run(body)
    case .handle(let start): call(start)
    case nil: break
    }
  }

  private func run(
    _ body: @escaping @Sendable (AsyncResultProcedure<Output>) async throws -> Output
  ) {
    let executor = executor
    let task = Task(executorPreference: executor) { [self] in
      do {
        finish(withResult: .success(try await body(self)))
      } catch {
        finish(throwing: error)
      }
    }
    // A cancel that is being delivered finds the task, or is found here.
    let isCancelled = read { core in
      self.task = task
      return core.machine.cancellation >= .posted
    }
    if isCancelled { task.cancel() }
  }

  private func call(
    _ start: @Sendable (AsyncResultProcedure<Output>, FinishHandle<Output>) throws -> Void
  ) {
    let finish = FinishHandle(self)
    do {
      try start(self, finish)
    } catch {
      finish(.failure(error))
    }
  }

  final override func interrupt() {
    read { _ in task }?.cancel()
  }

  final override func releaseWork() {
    work = nil
    let released = read { _ in task.take() }
    _ = released
  }
}
