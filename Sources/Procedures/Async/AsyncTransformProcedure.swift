/// Makes its output of its input with an `async` closure.
///
/// ```swift
/// let decode = AsyncTransformProcedure<Data, Image> { data in try await decoder.decode(data) }
/// decode.injectResult(from: download)
/// ```
///
/// Without an input when it executes, it fails with `ProcedureError.Code.requirementNotSatisfied`.
/// Otherwise as `AsyncResultProcedure`.
nonisolated open class AsyncTransformProcedure<Input: Sendable, Output: Sendable>:
  AsyncResultProcedure<Output>, InputProcedure, @unchecked Sendable
{
  /// Makes a procedure that runs `transform` as a task.
  public init(_ transform: @escaping @Sendable (_ input: Input) async throws -> Output) {
    super.init(.task { procedure in try await transform(Self.input(of: procedure)) })
  }

  /// Makes a procedure that starts something with a completion handler.
  ///
  /// `start` is called once, on the queue's worker, and calls `finish`, or has it called, when the
  /// work is done. What it throws ends the procedure.
  public init(
    _ start: @escaping @Sendable (_ input: Input, _ finish: FinishHandle<Output>) throws -> Void
  ) {
    super.init(.handle { procedure, finish in try start(Self.input(of: procedure), finish) })
  }

  private static func input(of procedure: AsyncResultProcedure<Output>) throws -> Input {
    guard let procedure = procedure as? AsyncTransformProcedure<Input, Output> else {
      preconditionFailure("Internal inconsistency: a transform that is run by another procedure")
    }
    return try procedure.requireInput()
  }
}
