internal import ProcedurePrimitives

/// What a group knows of the end of its children.
struct ChildResults: Sendable {
  var errors: [any Error] = []
  var failurePolicy = FailurePolicy.keepGoing
  /// Children that wait to be heard.
  var unheard = Fifo<Procedure>()
}

extension Procedure {
  /// Has the group decide about this procedure's errors, on this worker if the group's turn is free.
  ///
  /// - Returns: whether it has decided. Otherwise `wasHeard` is called when it has.
  final func askGroup(of list: ReadyList, _ context: SchedulingContext) -> Bool {
    guard let group = list.group else { return true }
    return group.hear(self, on: context)
  }

  final func wasHeard() {
    note { $0.machine.wasHeard() }
  }
}

extension GroupProcedure {
  fileprivate final func hear(_ child: Procedure, on context: SchedulingContext) -> Bool {
    let isOurs = update { core in
      // Children run on the context of their group, once that is the context of a queue.
      let runsHere = !context.isDetached || (core.home ?? .detached).context === context
      return runsHere && core.machine.takeTurn()
    }
    guard isOurs else {
      childResults.withLock { $0.unheard.append(child) }
      note { $0.machine.noteChild() }
      return false
    }
    decide(about: child)
    let list: ReadyList? = update { core in
      core.machine.giveBackTurn() == .requestTurn ? core.home ?? .detached : nil
    }
    list?.requestTurn(of: self)
    return true
  }

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
