internal import ProcedurePrimitives

/// Runs a closure and finishes with its value, or fails with its error.
///
/// ```swift
/// let count = ResultProcedure { try countWords(in: file) }
/// queue.add(count)
/// print(try await count.value)
/// ```
///
/// The closure runs once, on the queue's worker, and is released when the procedure has finished. A
/// `CancellationError` thrown after a cancel counts as the cancel, not as a failure.
nonisolated open class ResultProcedure<Output: Sendable>: Procedure, EndsByItself, OutputProcedure,
  @unchecked Sendable
{
  /// Once the procedure is on a queue, only its turn accesses this, and releases it there.
  @safe @exclusivity(unchecked) private final var block: (@Sendable () throws -> Output)?

  /// Makes a procedure that runs `block`.
  public init(name: String? = nil, _ block: @escaping @Sendable () throws -> Output) {
    self.block = block
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that runs `block`, and passes itself to it, for `isCancelled` for example.
  public init(
    name: String? = nil, _ block: @escaping @Sendable (ResultProcedure<Output>) throws -> Output
  ) {
    super.init()
    // Only this initialiser wraps its closure: the other one is used more often. Only `execute()`
    // calls the wrapper, perhaps from a deinit, where a checked reference would trap.
    self.block = { [unowned(unsafe) self] in try block(unsafe self) }
    if let name { self.name = name }
  }

  /// Runs the closure.
  open override func execute() {
    guard let block else { return }
    self.block = nil
    finishByItself { StoredValue(try block()) }
  }

  final override class var traits: ProcedureTraits { .keepsOutput }

  final override func workDidEnter(_ phase: WorkPhase) {
    if phase == .over { block = nil }
  }

  final override func text(for use: TextUse) -> String? {
    use == .callbackInitializer ? "AsyncResultProcedure(.callback) { finish in … }" : nil
  }
}

// These initialisers catch an `async` closure where a synchronous one is required. They are
// disfavoured, so that the compiler still reports the errors in any other closure.
extension ResultProcedure {
  /// Unavailable: the closure must not be `async`.
  @available(*, unavailable, message: "write AsyncResultProcedure { … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @MainActor @Sendable () async throws -> Output
  ) { unavailableName() }

  /// Unavailable: the closure must not be `async`.
  @available(*, unavailable, message: "write AsyncResultProcedure { procedure in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ block: @escaping @Sendable (ResultProcedure) async throws -> Output
  ) { unavailableName() }
}
