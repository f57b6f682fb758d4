extension Procedure {
  /// Ends the procedure. The first call counts; later ones, with their errors, change nothing.
  ///
  /// Never blocks or traps. Called inside `execute()`, it takes effect after `execute()` returned;
  /// called elsewhere, in the next turn. On a cancelled procedure that has not started it adds its
  /// errors. Before the start of an uncancelled one, and on a group (which ends when its children
  /// have), it is refused, and the queue's `diagnosticsHandler` is told.
  ///
  /// - Parameter errors: none if it succeeded. They follow those of a cancel in `errors`.
  /// - Returns: true if this was the finish that counts.
  @discardableResult
  public final func finish(withErrors errors: [any Error] = []) -> Bool {
    switch update({ $0.machine.finish(errors: errors) }) {
    case .accepted(.none):
      return true
    case .accepted(.requestTurn):
      listForTurns.requestTurn(of: self)
      return true
    case .late:
      return false
    case .refused:
      read { $0.home }?.context.diagnostics.report(.finishRefused(self))
      return false
    }
  }

  /// Ends the procedure with one error, or with none.
  @discardableResult
  public final func finish(withError error: (any Error)?) -> Bool {
    finish(withErrors: error.map { [$0] } ?? [])
  }
}
