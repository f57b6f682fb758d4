internal import ProcedurePrimitives

/// Ready-made procedures end when their closure has returned. A `finish` that comes later is reported.
extension Procedure {
  /// Ends a ready-made procedure whose closure has returned.
  final func finishByItself(withErrors errors: [any Error]) {
    let effect = update { core in
      let effect = core.machine.post(.finish(errors: errors))
      core.noteEnd(byItself: effect)
      return effect
    }
    _ = answer(to: effect, with: errors, isByItself: true)
  }

  final func reportLateFinish(_ errors: [any Error], instead form: String) {
    let supervisor = read { core in
      core.home?.context.supervisor ?? core.ending?.lateFinishes?.supervisor
    }
    let diagnostic = ProcedureDiagnostic.finishTooLate(name, errors, instead: form)
    if supervisor?.report(diagnostic) != true { StandardError.write("Procedures: \(diagnostic)\n") }
  }
}

extension ProcedureCore {
  /// The procedure has ended when its closure returned: from here on it forgets its queue, but not
  /// where a later `finish` is reported.
  mutating func noteEnd(byItself effect: ProcedureStateMachine.Effect) {
    guard Supervision.wantsReports.load() != 0, effect.isAccepted,
      let supervisor = home?.context.supervisor
    else { return }
    attachments.with(Ending.self) { $0.lateFinishes = supervisor.reference }
  }
}
