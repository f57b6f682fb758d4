/// Ends a procedure that was started asynchronously: called once, from any thread, with the result.
///
/// ```swift
/// AsyncResultProcedure<Response>(.callback) { finish in
///   client.send(request) { result in finish(result) }
/// }
/// ```
///
/// It cannot be forgotten: when the last reference to it goes and it was not called, the procedure
/// fails with `ProcedureError.Code.finishDropped`; or just finishes, if it was cancelled, since
/// much code that is cancelled never calls back. The first call counts, as with
/// `finish(withErrors:)`.
public final class FinishHandle<Output: Sendable>: Sendable {
  /// Says that a closure starts something, which calls back: it is handed a finish handle.
  ///
  /// It stands before the closure, where a trailing closure would have lost its label.
  public enum Form: Sendable {
    /// The closure is handed a finish handle, which ends the procedure.
    case callback
  }

  private let procedure: AsyncResultProcedure<Output>

  init(_ procedure: AsyncResultProcedure<Output>) {
    self.procedure = procedure
  }

  deinit {
    // It mostly was called. To make the error takes longer than all else: the name may have to be made.
    guard !procedure.peek({ $0.life.isToldToFinish }) else { return }
    procedure.finishAbandoned(withError: ProcedureError(.finishDropped, of: procedure.name))
  }

  /// Ends the procedure with its output, or with an error.
  ///
  /// A `CancellationError` after a cancel is the cancel, not a failure.
  public func callAsFunction(_ result: Result<Output, any Error>) {
    procedure.finishByItself { StoredValue(try result.get()) }
  }

  /// Whether the procedure was cancelled: then end soon. One atomic load.
  public var isCancelled: Bool { procedure.isCancelled }

  /// Fires when the procedure is cancelled. Use it to stop the work that you started, which then calls back.
  public var cancellationToken: CancellationToken { procedure.cancellationToken }
}

extension FinishHandle where Output == Void {
  /// Ends the procedure: with success, or with the error that a completion handler was given.
  public func callAsFunction(_ error: (any Error)? = nil) {
    self(error.map(Result.failure) ?? .success(()))
  }
}
