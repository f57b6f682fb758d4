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
    let finish = update { $0.machine.finish(errors: errors) }
    // Mostly the turn is held, and goes on when `execute()` has returned.
    if case .accepted(.none) = finish { return true }
    return answer(to: finish, with: errors)
  }

  /// Ends the procedure with one error, or with none.
  @discardableResult
  public final func finish(withError error: (any Error)?) -> Bool {
    finish(withErrors: error.map { [$0] } ?? [])
  }

  /// Ends a ready-made procedure whose closure has returned.
  final func finishByItself(withErrors errors: [any Error]) {
    let finish = update { core in
      let finish = core.machine.finish(errors: errors)
      core.noteEnd(byItself: finish)
      return finish
    }
    _ = answer(to: finish, with: errors, isByItself: true)
  }

  /// Does what the machine has decided, and reports a finish that it did not accept.
  final func answer(
    to finish: ProcedureStateMachine.Finish, with errors: [any Error], isByItself: Bool = false
  ) -> Bool {
    switch finish {
    case .accepted(.none):
      return true
    case .accepted(.requestTurn):
      listForTurns.requestTurn(of: self)
      return true
    case .late:
      if !isByItself, !isCancelled, let form = formThatCallsBack {
        reportLateFinish(errors, instead: form)
      }
      return false
    case .refused:
      supervisor?.report(.finishRefused(self))
      return false
    }
  }

  private func reportLateFinish(_ errors: [any Error], instead form: String) {
    let supervisor = read { core in
      core.home?.context.supervisor ?? core.rarities?.lateFinishes?.supervisor
    }
    let diagnostic = ProcedureDiagnostic.finishTooLate(name, errors, instead: form)
    if supervisor?.report(diagnostic) != true { StandardError.write("Procedures: \(diagnostic)\n") }
  }
}

extension ProcedureCore {
  /// The procedure has ended when its closure returned: from here on it forgets its queue, but not
  /// where a later `finish` is reported.
  mutating func noteEnd(byItself finish: ProcedureStateMachine.Finish) {
    guard Supervision.wantsReports.load() != 0, case .accepted = finish,
      let supervisor = home?.context.supervisor
    else { return }
    withRarities { $0.lateFinishes = supervisor.reference }
  }
}
