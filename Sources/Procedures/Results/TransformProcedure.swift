internal import ProcedurePrimitives

/// Transforms its input into its output with a closure.
///
/// ```swift
/// let length = TransformProcedure<String, Int> { text in text.count }
/// length.injectResult(from: download)
/// ```
///
/// Without an input when it executes, it fails with `ProcedureError.Code.requirementNotSatisfied`.
/// The closure runs once, on the queue's worker, and is released when the procedure has finished.
/// A `CancellationError` thrown after a cancel is the cancel, not a failure.
nonisolated open class TransformProcedure<Input: Sendable, Output: Sendable>: Procedure,
  EndsByItself,
  InputProcedure, OutputProcedure, @unchecked Sendable
{
  /// Belongs to the turn, which releases it.
  @safe @exclusivity(unchecked) private final var transform: (@Sendable (Input) throws -> Output)?

  /// Makes a procedure of a closure.
  public init(
    name: String? = nil, _ transform: @escaping @Sendable (Input) throws -> Output
  ) {
    self.transform = transform
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure of a closure that is handed the procedure too: to look at `isCancelled`.
  public init(
    name: String? = nil,
    _ transform:
      @escaping @Sendable (
        _ procedure: TransformProcedure<Input, Output>, _ input: Input
      ) throws -> Output
  ) {
    super.init()
    // This one needs a closure around it, so that the other, which is more frequent, does not. It is called by
    // `execute()` alone, perhaps by that of a deinit, where a checked reference would trap.
    self.transform = { [unowned(unsafe) self] input in
      try transform(unsafe self, input)
    }
    if let name { self.name = name }
  }

  /// Runs the closure.
  open override func execute() {
    guard let transform else { return }
    self.transform = nil
    finishByItself { StoredValue(try transform(requireInput(as: Input.self))) }
  }

  final override var callbackInitializer: String? {
    "AsyncTransformProcedure(.callback) { input, finish in … }"
  }

  final override var keepsInput: Bool { true }
  final override var keepsOutput: Bool { true }

  final override func releaseWork() {
    transform = nil
  }
}

// An `async` closure where a synchronous one is wanted. Disfavoured, so that the compiler still says what it
// finds in any other closure.
extension TransformProcedure {
  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncTransformProcedure { input in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ transform: @escaping @MainActor @Sendable (Input) async throws -> Output
  ) { unavailableName() }

  /// Takes a closure that is not `async`.
  @available(*, unavailable, message: "write AsyncTransformProcedure { procedure, input in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil,
    _ transform: @escaping @Sendable (TransformProcedure, Input) async throws -> Output
  ) { unavailableName() }
}
