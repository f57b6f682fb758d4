internal import ProcedurePrimitives

/// Transforms its input into its output with a closure.
///
/// ```swift
/// let length = TransformProcedure<String, Int> { text in text.count }
/// length.injectResult(from: download)
/// ```
///
/// If it has no input when it executes, it fails with
/// `ProcedureError.Code.requirementNotSatisfied`. The closure runs once, on the queue's worker, and
/// is released when the procedure has finished. A `CancellationError` thrown after a cancel counts
/// as the cancel, not as a failure.
nonisolated open class TransformProcedure<Input: Sendable, Output: Sendable>: Procedure,
  EndsByItself,
  InputProcedure, OutputProcedure, @unchecked Sendable
{
  /// Once the procedure is on a queue, only its turn accesses this, and releases it there.
  @safe @exclusivity(unchecked) private final var transform: (@Sendable (Input) throws -> Output)?

  /// Makes a procedure that runs `transform`.
  public init(
    name: String? = nil, _ transform: @escaping @Sendable (Input) throws -> Output
  ) {
    self.transform = transform
    super.init()
    if let name { self.name = name }
  }

  /// Makes a procedure that runs `transform`, and passes itself to it, for `isCancelled` for
  /// example.
  public init(
    name: String? = nil,
    _ transform:
      @escaping @Sendable (
        _ procedure: TransformProcedure<Input, Output>, _ input: Input
      ) throws -> Output
  ) {
    super.init()
    // Only this initialiser wraps its closure: the other one is used more often. Only `execute()`
    // calls the wrapper, perhaps from a deinit, where a checked reference would trap.
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

  final override class var traits: ProcedureTraits { [.keepsInput, .keepsOutput] }

  final override func workDidEnter(_ phase: WorkPhase) {
    if phase == .over { transform = nil }
  }

  final override func text(for use: TextUse) -> String? {
    use == .callbackInitializer ? "AsyncTransformProcedure(.callback) { input, finish in … }" : nil
  }
}

// These initialisers catch an `async` closure where a synchronous one is required. They are
// disfavoured, so that the compiler still reports the errors in any other closure.
extension TransformProcedure {
  /// Unavailable: the closure must not be `async`.
  @available(*, unavailable, message: "write AsyncTransformProcedure { input in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil, _ transform: @escaping @MainActor @Sendable (Input) async throws -> Output
  ) { unavailableName() }

  /// Unavailable: the closure must not be `async`.
  @available(*, unavailable, message: "write AsyncTransformProcedure { procedure, input in … }")
  @_disfavoredOverload
  public convenience init(
    name: String? = nil,
    _ transform: @escaping @Sendable (TransformProcedure, Input) async throws -> Output
  ) { unavailableName() }
}
