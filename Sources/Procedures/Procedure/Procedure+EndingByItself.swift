internal import ProcedurePrimitives

/// Ready-made procedures end when their closure has returned. A `finish` that comes later is reported.
extension Procedure {
  /// Ends a ready-made procedure whose closure has returned.
  final func finishByItself(withErrors errors: [any Error]) {
    let effect = update { $0.finishByItself(withErrors: errors) }
    _ = answer(to: effect, with: errors, isByItself: true)
  }

  /// Ends it because its finish handle has gone uncalled: with that error, or because of a cancel.
  final func finishAbandoned(withError error: any Error) {
    let effect = update { core in
      // One cancelled meanwhile just ends.
      core.finishByItself(withErrors: core.machine.isCancelled ? [] : [error])
    }
    _ = answer(to: effect, with: [], isByItself: true)
  }

  /// A finish came from elsewhere. It is reported if it came after the closure had returned.
  final func reportLateFinish(_ errors: [any Error], instead form: String) {
    let (isReported, supervisor) = read { core in
      (
        core.machine.isFinishedByItself && !core.machine.isCancelled,
        core.home?.context.supervisor ?? core.ending?.lateFinishes?.supervisor
      )
    }
    guard isReported else { return }
    supervisor.reportAloud(.finishTooLate(name, errors, instead: form))
  }

  /// The closure of a ready-made procedure has thrown, or its handle was called with an error, when it had been
  /// finished before. Nothing is lost if that was a cancel's doing.
  final func reportLostErrors(_ errors: [any Error]) {
    if isCancelled { return }
    let supervisor = read { $0.home?.context.supervisor ?? $0.ending?.lateFinishes?.supervisor }
    supervisor.reportAloud(.errorsTooLate(name, errors))
  }
}

extension ProcedureCore {
  @inline(__always)
  fileprivate mutating func finishByItself(
    withErrors errors: [any Error]
  ) -> ProcedureStateMachine.Effect {
    let effect = noteFinish(withErrors: errors, isByItself: true)
    noteEnd(byItself: effect)
    return effect
  }

  /// The procedure has ended when its closure returned: from here on it forgets its queue, but not
  /// where a later `finish` is reported.
  mutating func noteEnd(byItself effect: ProcedureStateMachine.Effect) {
    guard Supervision.wantsReports.load() != 0, effect.isAccepted,
      let supervisor = home?.context.supervisor
    else { return }
    attachments.with(Ending.self) { $0.lateFinishes = supervisor.reference }
  }
}
