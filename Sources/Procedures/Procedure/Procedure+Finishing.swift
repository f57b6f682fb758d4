internal import ProcedurePrimitives

extension Procedure {
  /// Ends the procedure. The first call counts; later ones, with their errors, change nothing.
  ///
  /// Never blocks or traps. Called inside `execute()`, it takes effect after `execute()` returned;
  /// called elsewhere, in the next turn. On a cancelled procedure that has not started it adds its
  /// errors. Before the start of an uncancelled one, and on a group (which ends when its children
  /// have), it is refused, and reported to the queue's `diagnosticsHandler`. So is a call on a
  /// ready-made procedure, such as a `BlockProcedure`, that comes after its closure has returned:
  /// then it has ended by itself. Without a handler that is written to standard error.
  ///
  /// - Parameter errors: none if it succeeded. They follow the errors of a cancel in `errors`.
  /// - Returns: true if this was the finish that counts.
  @discardableResult
  public final func finish(withErrors errors: [any Error] = []) -> Bool {
    let effect = update { $0.noteFinish(withErrors: errors) }
    // Mostly the turn is held, and goes on when `execute()` has returned.
    if effect == .none { return true }
    return answer(to: effect, with: errors)
  }

  /// Ends the procedure with one error, or with none.
  @discardableResult
  public final func finish(withError error: (any Error)?) -> Bool {
    finish(withErrors: error.map { [$0] } ?? [])
  }

  /// Does what the machine has decided, and reports a finish that it did not accept.
  final func answer(
    to effect: ProcedureStateMachine.Effect, with errors: [any Error], isByItself: Bool = false
  ) -> Bool {
    switch effect {
    case .none, .ready, .wait:
      return true
    case .turn:
      listForTurns.requestTurn(of: self)
      return true
    case .late:
      if isByItself {
        if !errors.isEmpty { reportLostErrors(errors) }
      } else if let form = formThatCallsBack {
        reportLateFinish(errors, instead: form)
      }
      return false
    case .refused:
      supervisor?.report(.finishRefused(self))
      return false
    }
  }
}
