internal import ProcedurePrimitives

extension Procedure {
  /// Finishes the procedure. The first call counts; later calls, with their errors, change nothing.
  ///
  /// It never blocks or traps. A call inside `execute()` takes effect after `execute()` has
  /// returned; any other call, in the next turn. On a cancelled procedure that has not started it
  /// adds its errors. Before the start of an uncancelled procedure, and on a group (which ends when
  /// its children have), it is refused, and reported to the queue's `diagnosticsHandler`. A call on
  /// a ready-made procedure, such as a `BlockProcedure`, is reported if it comes after the closure
  /// has returned, which has finished the procedure. Without a handler that report is written to
  /// standard error.
  ///
  /// - Parameter errors: none if it succeeded. They follow the errors of a cancel in `errors`.
  /// - Returns: true if this finish took effect.
  @discardableResult
  public final func finish(withErrors errors: [any Error] = []) -> Bool {
    let effect = withCore { $0.noteFinish(withErrors: errors) }
    // Usually the turn is held, and continues when `execute()` has returned.
    if effect == .none { return true }
    return answer(to: effect, with: errors)
  }

  /// Finishes the procedure with one error, or with none.
  @discardableResult
  public final func finish(withError error: (any Error)?) -> Bool {
    finish(withErrors: error.map { [$0] } ?? [])
  }

  /// Claims the finish: from now on a cancel, or any other finish, is late. `finish(claimedWith:)`
  /// must follow.
  ///
  /// - Parameter isCommitting: whether something is about to happen that is not undone, such as
  ///   replacing a file. Then a group that ends with this procedure, such as a retry, is claimed as
  ///   well: otherwise it could report that it was cancelled.
  /// - Returns: false if it was cancelled, or finished, before.
  package final func claimFinish(isCommitting: Bool = false) -> Bool {
    // 1. From now on a cancel of this procedure is late.
    guard withCore({ $0.life.post(.claimFinish) }) == .none else { return false }
    // 2. A group that ends with it must not be cancelled either.
    guard isCommitting, let group = enclosingGroup, group.ends(with: self),
      !group.claimFinish(isCommitting: true)
    else { return true }
    // 3. The group was cancelled just now: its cancel may have come here already, and too late.
    withCore { _ = $0.life.post(.releaseClaim) }
    cancel()
    return false
  }

  /// The claimed work has failed: the groups around it may have something to do instead.
  final func releaseClaimOfGroups() { _ = enclosingGroup?.releaseClaims() }

  /// Releases the claim of a group that has got another child since: it does not end with the child
  /// that commits, and can be cancelled. Called when the claim has refused a cancel.
  ///
  /// - Returns: whether the claim was released, and references to keep until user code may run.
  final func releaseOverdueClaim() -> (isReleased: Bool, kept: [Procedure]) {
    // 1. Usually nothing is claimed.
    guard peek({ $0.life.isClaimed }) else { return (false, []) }
    // 2. Go down to the child that commits, which counts as told to finish, or to a group that
    //    waits for more. The children are kept: nothing may be released while a walk marks.
    var (group, kept) = (self, [self])
    while let children = group.childList?.procedures {
      kept += children
      let lasting = children.filter { child in !child.peek { $0.life.isToldToFinish } }
      guard let child = lasting.first else { break }
      // 3. More than the claimed child is left: the group does not end with it.
      guard lasting.count == 1, child.peek({ $0.life.isClaimed }) else {
        return (true, kept + group.releaseClaims())
      }
      group = child
    }
    return (false, kept)
  }

  /// Releases its claim, and the claims of the groups around it.
  ///
  /// - Returns: all procedures that were visited.
  private final func releaseClaims() -> [Procedure] {
    var asked = [self]
    while let last = asked.last, last.withCore({ $0.life.post(.releaseClaim) }) == .none,
      let group = last.enclosingGroup
    {
      asked.append(group)
    }
    return asked
  }

  private final var enclosingGroup: GroupProcedure? { peek { $0.groupReference }?.group }

  /// Carries out the effect that the machine returned, and reports a finish that it did not accept.
  final func answer(
    to effect: Life.Effect, with errors: [any Error], isByItself: Bool = false
  ) -> Bool {
    switch effect {
    case .none, .ready, .wait:
      return true
    case .turn:
      requestTurn()
      return true
    case .late:
      if isByItself {
        if !errors.isEmpty { reportLostErrors(errors) }
      } else if let form = text(for: .callbackInitializer) {
        reportLateFinish(errors, instead: form)
      }
      return false
    case .refused:
      supervisor?.report(.finishRefused(self))
      return false
    }
  }
}

/// Ready-made procedures finish when their closure has returned. A later `finish` is reported.
extension Procedure {
  /// Finishes a ready-made procedure whose closure has returned.
  final func finishByItself(withErrors errors: [any Error]) {
    let effect = withCore { $0.finishByItself(withErrors: errors) }
    _ = answer(to: effect, with: errors, isByItself: true)
  }

  /// Finishes it because its finish handle was released without a call: with that error, or because
  /// of a cancel.
  final func finishAbandoned(withError error: any Error) {
    let effect = withCore { core in
      // A procedure that was cancelled meanwhile finishes without the error.
      core.finishByItself(withErrors: core.life.isCancelled ? [] : [error])
    }
    _ = answer(to: effect, with: [], isByItself: true)
  }

  /// Reports a finish that came from elsewhere, if it came after the closure had returned.
  final func reportLateFinish(_ errors: [any Error], instead form: String) {
    let (isReported, supervisor) = peek { core in
      (
        core.life.isFinishedByItself && !core.life.isCancelled,
        core.list?.context.supervisor ?? core.ending?.value.lateFinishes?.supervisor
      )
    }
    guard isReported else { return }
    ProcedureDiagnostic.finishTooLate(name, errors, instead: form).reportAloud(to: supervisor)
  }

  /// The closure of a ready-made procedure has thrown, or its handle was called with an error,
  /// after the procedure had been finished. Nothing is lost if a cancel caused that.
  final func reportLostErrors(_ errors: [any Error]) {
    if isCancelled { return }
    let supervisor = peek {
      $0.list?.context.supervisor ?? $0.ending?.value.lateFinishes?.supervisor
    }
    ProcedureDiagnostic.errorsTooLate(name, errors).reportAloud(to: supervisor)
  }
}

extension ProcedureCore {
  @inline(__always)
  fileprivate mutating func finishByItself(
    withErrors errors: [any Error]
  ) -> Life.Effect {
    let effect = noteFinish(withErrors: errors, isByItself: true)
    noteEnd(byItself: effect)
    return effect
  }

  /// The procedure has finished with the return of its closure: from now on it forgets its queue,
  /// but not where a later `finish` is reported.
  mutating func noteEnd(byItself effect: Life.Effect) {
    guard QueueSupervisor.wantsReports.load() != 0, effect.isAccepted,
      let supervisor = list?.context.supervisor
    else { return }
    attachments.with(EndDetails.self) { $0.value.lateFinishes = supervisor.reference }
  }
}
