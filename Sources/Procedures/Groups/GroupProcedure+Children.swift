internal import ProcedurePrimitives

/// What a group knows of the end of its children.
struct ChildResults: Sendable {
  var errors: [any Error] = []
  var failurePolicy = FailurePolicy.keepGoing
}

extension Procedure {
  /// Has the group decide about this procedure's errors, if it can at once: on this worker.
  final func askGroupAtOnce(of list: ReadyList, _ context: SchedulingContext) -> Bool {
    list.withGroup(on: context) { $0.hearAtOnce(self, on: context) } ?? true
  }

  /// Has the group decide about this procedure's errors in its next turn, and then calls `wasHeard`.
  final func askGroupLater(of list: ReadyList, _ context: SchedulingContext) {
    let isAsked: Void? = list.withGroup(on: context) { group in
      group.note { core in
        core.withRarities { $0.unheard.append(self) }
        return core.machine.noteChild()
      }
    }
    if isAsked == nil { wasHeard() }
  }

  final func wasHeard() {
    note { $0.machine.wasHeard() }
  }
}

extension GroupProcedure {
  /// False if the group's turn is held, or must be taken elsewhere.
  fileprivate final func hearAtOnce(_ child: Procedure, on context: SchedulingContext) -> Bool {
    // What is decided without user code takes no turn, so that no child waits for another's; but it
    // waits for the same as one that takes it.
    let takesTurn = mayDecideOtherwise
    let isInTime = read { core in
      // Children run on the context of their group, once that is the context of a queue.
      let runsHere = !context.isDetached || (core.home ?? .detached).context === context
      return runsHere && (takesTurn ? core.machine.takeTurn() : core.machine.isTurnFree)
    }
    guard isInTime else { return false }
    guard takesTurn else {
      takeOver(child.errors, of: child)
      return true
    }
    decide(about: child)
    let list: ReadyList? = update { core in
      core.machine.giveBackTurn() == .requestTurn ? core.home ?? .detached : nil
    }
    list?.requestTurn(of: self)
    return true
  }

  /// Whether anything but the errors themselves may come of asking it.
  private var mayDecideOtherwise: Bool { type(of: self) != GroupProcedure.self }

  /// Lets the override say which errors of a child that is about to finish the group takes over.
  final func decide(about child: Procedure) {
    let errors = self.child(child, willFinishWithErrors: child.errors)
    takeOver(errorsToTakeOver(errors, of: child), of: child)
  }

  /// Takes over errors of a child, except those that the group itself gave it.
  private func takeOver(_ errors: [any Error], of child: Procedure) {
    guard !errors.isEmpty else { return }
    let named = errors.named(after: child)
    guard let first = named.first else { return }
    let policy = childResults.withLock { results in
      results.errors += named
      return results.failurePolicy
    }
    if case .cancelRemaining = policy { cancelRemaining(after: child.name, first) }
  }

  private func cancelRemaining(after name: String, _ error: any Error) {
    guard let childList else { return }
    Self.cancel(
      childList, errors: [ProcedureError.siblingFailed(name)], reason: .failure(error))
  }
}

extension [any Error] {
  /// As errors of the group of `child`, without those that the group gave it.
  func named(after child: Procedure) -> [any Error] {
    let name = child.name
    return compactMap { error in
      switch error as? ProcedureError {
      case .parentCancelled, .siblingFailed: nil
      case .child: error
      default: ProcedureError.child(name, error)
      }
    }
  }
}
