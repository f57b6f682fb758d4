internal import ProcedurePrimitives

/// Runs a closure and finishes when it returns, or fails with its error.
///
/// ```swift
/// queue.add(BlockProcedure { try compress(file) })
/// queue.add(BlockProcedure { procedure in
///   for file in files where !procedure.isCancelled { try compress(file) }
/// })
/// ```
///
/// The closure runs once, on the queue's worker, and is released when the procedure has finished. A
/// `CancellationError` thrown after a cancel counts as the cancel, not as a failure.
///
/// The procedure ends when the closure returns. A later `finish()` is ignored, and reported to the
/// queue's `diagnosticsHandler` or on standard error. For work that calls back later use
/// `AsyncProcedure(.callback) { finish in … }`.
nonisolated open class BlockProcedure: Procedure, EndsByItself, @unchecked Sendable {
  /// Once the procedure is on a queue, only its turn accesses this, and releases it there.
  @safe @exclusivity(unchecked) private final var block: (@Sendable () throws -> Void)?

  /// Makes a procedure that runs `block`.
  public init(name: String? = nil, _ block: @escaping @Sendable () throws -> Void) {
    self.block = block
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that runs `block`, and passes itself to it, for `isCancelled` for example.
  public init(
    name: String? = nil, _ block: @escaping @Sendable (BlockProcedure) throws -> Void
  ) {
    super.init()
    // Only this initialiser wraps its closure: the other one is used more often. Only `execute()`
    // calls the wrapper, perhaps from a deinit, where a checked reference would trap.
    self.block = { [unowned(unsafe) self] in try block(unsafe self) }
    if let name { self.name = name }
  }

  /// Runs the closure.
  open override func execute() {
    do {
      try block.take()?()
      finishByItself(withErrors: [])
    } catch is CancellationError where isCancelled {
      finishByItself(withErrors: [])
    } catch {
      trackUnobservedErrors()
      finishByItself(withErrors: [error])
    }
  }

  /// Unavailable: the closure received the procedure, not a finish handle.
  @available(
    *, unavailable,
    message:
      "this closure ends the procedure when it returns; for one that calls back later write AsyncProcedure(.callback) { finish in … }"
  )
  @discardableResult
  public final func callAsFunction(_ result: Any? = nil) -> Bool { unavailableName() }

  final override func workDidEnter(_ phase: WorkPhase) {
    if phase == .over { block = nil }
  }

  final override func text(for use: TextUse) -> String? {
    use == .callbackInitializer ? "AsyncProcedure(.callback) { finish in … }" : nil
  }
}

// These initialisers catch an `async` closure where a synchronous one is required. They are
// disfavoured, so that the compiler still reports the errors in any other closure.
extension BlockProcedure {
  /// Unavailable: the closure must not be `async`.
  @available(
    *, unavailable,
    message: "write AsyncProcedure { … }, or MainActorProcedure { … } for the main actor"
  )
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @MainActor @Sendable () async throws -> Void
  ) { unavailableName() }

  /// Unavailable: the closure must not be `async`.
  @available(*, unavailable, message: "write AsyncProcedure { procedure in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @Sendable (BlockProcedure) async throws -> Void
  ) { unavailableName() }
}
