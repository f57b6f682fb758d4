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
  final func askGroup(of list: ReadyList, _ context: SchedulingContext) {
    guard let group = list.group else { return wasHeard() }
    group.hear(self, on: context)
  }

  final func wasHeard() {
    note { $0.machine.wasHeard() }
  }
}

extension GroupProcedure {
  fileprivate final func hear(_ child: Procedure, on context: SchedulingContext) {
    childResults.withLock { $0.unheard.append(child) }
    let list: ReadyList? = update { core in
      core.machine.noteChild() == .requestTurn ? core.home ?? .detached : nil
    }
    guard let list else { return }
    guard list.context === context else { return list.requestTurn(of: self) }
    switch runTurn(.turn, on: list, context, looksForMore: false) {
    case .idle: break
    case .retired: preconditionFailure("Internal inconsistency: a group ended before its child")
    }
  }

  /// Takes over errors of a child, except those that the group itself gave it.
  final func takeOver(_ errors: [any Error], of child: Procedure) {
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
