internal import ProcedurePrimitives

/// Runs a closure and finishes with its value, or fails with its error.
///
/// ```swift
/// let count = ResultProcedure { try countWords(in: file) }
/// queue.add(count)
/// print(try await count.value)
/// ```
///
/// The closure runs once, on the queue's worker, and is released when the procedure has finished.
/// A `CancellationError` thrown after a cancel is the cancel, not a failure.
nonisolated open class ResultProcedure<Output: Sendable>: Procedure, EndsByItself, OutputProcedure,
  @unchecked Sendable
{
  /// Belongs to the turn, which releases it.
  @safe @exclusivity(unchecked) private final var block: (@Sendable () throws -> Output)?

  /// Makes a procedure of a closure.
  public init(name: String? = nil, _ block: @escaping @Sendable () throws -> Output) {
    self.block = block
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure of a closure that is handed the procedure: to look at `isCancelled`.
  public init(
    name: String? = nil, _ block: @escaping @Sendable (ResultProcedure<Output>) throws -> Output
  ) {
    super.init()
    // This one needs a closure around it, so that the other, which is more frequent, does not. It is called by
    // `execute()` alone, perhaps by that of a deinit, where a checked reference would trap.
    self.block = { [unowned(unsafe) self] in try block(unsafe self) }
    if let name { self.name = name }
  }

  /// Runs the closure.
  open override func execute() {
    guard let block else { return }
    self.block = nil
    finishByItself { StoredValue(try block()) }
  }

  final override var callbackInitializer: String? {
    "AsyncResultProcedure(.callback) { finish in … }"
  }

  final override var keepsOutput: Bool { true }

  final override func releaseWork() {
    block = nil
  }
}

// An `async` closure where a synchronous one is wanted. Disfavoured, so that the compiler still says what it
// finds in any other closure.
extension ResultProcedure {
  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncResultProcedure { … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @MainActor @Sendable () async throws -> Output
  ) { unavailableName() }

  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncResultProcedure { procedure in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @Sendable (ResultProcedure) async throws -> Output
  ) { unavailableName() }
}
