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
/// The closure runs once, on the queue's worker, and is released when the procedure has finished.
/// A `CancellationError` thrown after a cancel is the cancel, not a failure.
///
/// It ends when the closure returns. A `finish()` that comes later is too late, and is reported to the
/// queue's `diagnosticsHandler`, or written to standard error; work that calls back later is an
/// `AsyncProcedure(.callback) { finish in … }`.
nonisolated open class BlockProcedure: Procedure, EndsByItself, @unchecked Sendable {
  /// Belongs to the turn, which releases it.
  @safe @exclusivity(unchecked) private final var block: (@Sendable () throws -> Void)?

  /// Makes a procedure that runs `block`.
  public init(name: String? = nil, _ block: @escaping @Sendable () throws -> Void) {
    self.block = block
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that runs `block`, which is handed the procedure: to look at `isCancelled`.
  public init(
    name: String? = nil, _ block: @escaping @Sendable (BlockProcedure) throws -> Void
  ) {
    super.init()
    // This one needs a closure around it, so that the other, which is more frequent, does not. It is called by
    // `execute()` alone, perhaps by that of a deinit, where a checked reference would trap.
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

  /// Not callable: this closure was handed the procedure, not a finish handle.
  @available(
    *, unavailable,
    message:
      "this closure ends the procedure when it returns; for one that calls back later write AsyncProcedure(.callback) { finish in … }"
  )
  @discardableResult
  public final func callAsFunction(_ result: Any? = nil) -> Bool { unavailableName() }

  final override var callbackInitializer: String? { "AsyncProcedure(.callback) { finish in … }" }

  final override func releaseWork() {
    block = nil
  }
}

// An `async` closure where a synchronous one is wanted. Disfavoured, so that the compiler still says what it
// finds in any other closure.
extension BlockProcedure {
  /// Takes a closure that is not `async`.
  @available(
    *, unavailable,
    message: "write AsyncProcedure { … }, or MainActorProcedure { … } for the main actor"
  )
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @MainActor @Sendable () async throws -> Void
  ) { unavailableName() }

  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncProcedure { procedure in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @Sendable (BlockProcedure) async throws -> Void
  ) { unavailableName() }
}
