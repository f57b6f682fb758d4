/// Ends a procedure whose work calls back. Call it once, from any thread, with the result.
///
/// ```swift
/// AsyncResultProcedure<Response>(.callback) { finish in
///   client.send(request) { result in finish(result) }
/// }
/// ```
///
/// A forgotten call does not hang: if the last reference to the handle is released before a call,
/// the procedure fails with `ProcedureError.Code.finishDropped`. A cancelled procedure then
/// finishes without that error, since much code never calls back once it is cancelled. Only the
/// first call has an effect, as with `finish(withErrors:)`.
public final class FinishHandle<Output: Sendable>: Sendable {
  /// Marks a closure that receives a finish handle, and starts work that calls back.
  ///
  /// It is an argument before the closure, since a trailing closure loses its label.
  public enum Form: Sendable {
    /// The closure receives a finish handle, which ends the procedure.
    case callback
  }

  private let procedure: AsyncResultProcedure<Output>

  init(_ procedure: AsyncResultProcedure<Output>) {
    self.procedure = procedure
  }

  deinit {
    // The handle usually was called. Check that first: making the error is slow, since it may
    // derive the procedure's name.
    guard !procedure.peek({ $0.life.isToldToFinish }) else { return }
    procedure.finishAbandoned(withError: ProcedureError(.finishDropped, of: procedure.name))
  }

  /// Ends the procedure with its output, or with an error.
  ///
  /// A `CancellationError` after a cancel counts as the cancel, not as a failure.
  public func callAsFunction(_ result: Result<Output, any Error>) {
    procedure.finishByItself { StoredValue(try result.get()) }
  }

  /// Whether the procedure was cancelled: if so, end soon. Costs one atomic load.
  public var isCancelled: Bool { procedure.isCancelled }

  /// Fires when the procedure is cancelled. Use it to stop the work that you started, and finish
  /// when that calls back.
  public var cancellationToken: CancellationToken { procedure.cancellationToken }
}

extension FinishHandle where Output == Void {
  /// Ends the procedure with success, or with the error that a completion handler received.
  public func callAsFunction(_ error: (any Error)? = nil) {
    self(error.map(Result.failure) ?? .success(()))
  }
}
