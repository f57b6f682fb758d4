internal import ProcedurePrimitives

/// Transforms its input into its output with an `async` closure.
///
/// ```swift
/// let decode = AsyncTransformProcedure<Data, Image> { data in try await decoder.decode(data) }
/// decode.injectResult(from: download)
/// ```
///
/// If it has no input when it executes, it fails with
/// `ProcedureError.Code.requirementNotSatisfied`. Otherwise it behaves like `AsyncResultProcedure`.
nonisolated open class AsyncTransformProcedure<Input: Sendable, Output: Sendable>:
  AsyncResultProcedure<Output>, InputProcedure, @unchecked Sendable
{
  /// Makes a procedure that runs `transform` as a task, on the actor that it is written on, if any.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - transform: the procedure ends with its result, or its error.
  public init(
    name: String? = nil,
    @_inheritActorContext @_implicitSelfCapture
    _ transform: @escaping @isolated(any) @Sendable (_ input: Input) async throws -> Output
  ) {
    super.init(
      name: name, .task { StoredValue(try await transform(Self.transforming($0).input)) },
      isolation: transform.isolation)
  }

  /// Makes a procedure from a function whose type does not state its isolation, such as a
  /// `nonisolated(nonsending)` one.
  @_disfavoredOverload
  public init<Failure: Error>(
    name: String? = nil,
    _ transform: @escaping @Sendable (_ input: Input) async throws(Failure) -> Output
  ) {
    super.init(
      name: name, .task { StoredValue(try await transform(Self.transforming($0).input)) })
  }

  /// Makes a procedure that runs `transform`, which is handed the procedure, as a task.
  public init(
    name: String? = nil,
    @_inheritActorContext @_implicitSelfCapture
    _ transform:
      @escaping @isolated(any) @Sendable (
        _ procedure: AsyncTransformProcedure<Input, Output>, _ input: Input
      ) async throws -> Output
  ) {
    super.init(
      name: name,
      .task { procedure in
        let (procedure, input) = try Self.transforming(procedure)
        return StoredValue(try await transform(procedure, input))
      }, isolation: transform.isolation)
  }

  /// Makes a procedure that passes itself to a function whose type does not state its isolation.
  @_disfavoredOverload
  public init<Failure: Error>(
    name: String? = nil,
    _ transform:
      @escaping @Sendable (
        _ procedure: AsyncTransformProcedure<Input, Output>, _ input: Input
      ) async throws(Failure) -> Output
  ) {
    super.init(
      name: name,
      .task { procedure in
        let (procedure, input) = try Self.transforming(procedure)
        return StoredValue(try await transform(procedure, input))
      })
  }

  /// Makes a procedure for an interface with a completion handler.
  ///
  /// The queue's worker calls `start` once. Call `finish` when the work is done, on any thread. An
  /// error that `start` throws ends the procedure.
  public init(
    name: String? = nil, _ form: FinishHandle<Output>.Form,
    _ start: @escaping @Sendable (_ input: Input, _ finish: FinishHandle<Output>) throws -> Void
  ) {
    super.init(
      name: name,
      .handle { procedure, finish in try start(Self.transforming(procedure).input, finish) })
  }

  /// Unavailable: write `.callback` before the closure.
  @available(
    *, unavailable, message: "write AsyncTransformProcedure(.callback) { input, finish in … }"
  )
  public init(
    _ start: @escaping @Sendable (_ input: Input, _ finish: FinishHandle<Output>) throws -> Void
  ) { unavailableName() }

  final override class var traits: ProcedureTraits { [.hasAsyncBody, .keepsInput, .keepsOutput] }

  private static func transforming(
    _ procedure: AsyncResultProcedure<Output>
  ) throws -> (procedure: AsyncTransformProcedure<Input, Output>, input: Input) {
    guard let procedure = procedure as? AsyncTransformProcedure<Input, Output> else {
      stopBecauseOfInconsistency(
        "Internal inconsistency: a transform that is run by another procedure")
    }
    return (procedure, try procedure.requireInput(as: Input.self))
  }
}
