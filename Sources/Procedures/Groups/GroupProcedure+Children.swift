internal import ProcedurePrimitives

/// What a group knows of the end of its children.
struct ChildResults: Sendable {
  var errors: [any Error] = []
  /// Those that are its own: of what it wraps, or of the attempt that counts.
  var ownErrors: [any Error] = []
  /// Waits that never end are reported once, though each member has the error.
  var cycles: [[String]] = []
  var failurePolicy = FailurePolicy.keepGoing
  var recoveries: [Recovery] = []
}

/// What the errors of a child are to its group.
enum ChildRelation: Sendable {
  /// Errors of a part, and named after it.
  case part
  /// The group's own.
  case whole
  /// The group's own, unless there is a later attempt that counts.
  case wholeSoFar
}

extension Procedure {
  /// Has the group decide about this procedure's errors, if it can at once: on this worker.
  final func askGroupAtOnce(on worker: Worker) -> Bool {
    worker.list.withGroup(on: worker.context) { $0.hearAtOnce(self, on: worker.context) } ?? true
  }

  /// Has the group decide about this procedure's errors in its next turn, and then calls `wasHeard`.
  final func askGroupLater(on worker: Worker) {
    let isAsked: Void? = worker.list.withGroup(on: worker.context) { group in
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
  private var mayDecideOtherwise: Bool {
    type(of: self) != GroupProcedure.self || hasRecoveries.load() != 0
  }

  /// Lets the override, and then the closures, say which errors of a child that is about to finish
  /// the group takes over.
  final func decide(about child: Procedure) {
    let errors = self.child(child, willFinishWithErrors: child.errors)
    takeOver(errorsToTakeOver(recover(child, errors), of: child), of: child)
  }

  /// Takes over errors of a child, except those that follow from what else ended in the group.
  private func takeOver(_ errors: [any Error], of child: Procedure) {
    let relation = relation(to: child)
    if case .part = relation, errors.isEmpty { return }
    guard let reference = childList?.owner else { return }
    let beginning = errors.beginning(in: reference)
    switch relation {
    case .part:
      let named = beginning.named(after: child.name)
      let new: [any Error] = childResults.withLock { results in
        let new = named.filter { results.isNew($0) }
        results.errors += new
        return new
      }
      cancelRemaining(after: child, new.first)
    case .whole, .wholeSoFar:
      // An attempt that ended only because of the group leaves the errors of the one before.
      let counts = errors.isEmpty ? !isCancelled : !beginning.isEmpty
      if counts { setOwnErrors(beginning) }
      if case .whole = relation { cancelRemaining(after: child, beginning.first) }
    }
  }

  /// All that was taken over. Where a cause lies may have become known since: a group that was being
  /// put together while something of it ended.
  final var errorsAtTheEnd: [any Error] {
    let errors = childResults.withLock { $0.ownErrors + $0.errors }
    guard !errors.isEmpty, let reference = childList?.owner else { return errors }
    return errors.beginning(in: reference)
  }

  /// What counts from now on. Those of before are released after the lock.
  final func setOwnErrors(_ errors: [any Error]) {
    let released = childResults.withLock { results in
      let released = results.ownErrors
      results.ownErrors = errors
      return released
    }
    _ = released
  }

  private func cancelRemaining(after child: Procedure, _ error: (any Error)?) {
    guard let error, let childList,
      case .cancelRemaining = childResults.withLock({ $0.failurePolicy })
    else { return }
    Self.cancel(
      childList, errors: [ProcedureError.siblingFailed(child.name, error.fromChild)],
      reason: .failure(error))
  }
}

extension ProcedureCore {
  /// The next child that is to be heard; nil also if a cancel is to be delivered first: then they
  /// are heard after that.
  mutating func takeUnheardChild() -> Procedure? {
    guard let rarities, rarities.unheard.first != nil else { return nil }
    guard !machine.isCancelDue else {
      _ = machine.noteChild()
      return nil
    }
    return rarities.unheard.popFirst()
  }
}

extension ChildResults {
  /// Whether it is no wait that was reported before.
  fileprivate mutating func isNew(_ error: any Error) -> Bool {
    guard let cycle = (error.fromChild as? ProcedureError)?.cycle, !cycle.isEmpty else {
      return true
    }
    guard !cycles.contains(cycle) else { return false }
    cycles.append(cycle)
    return true
  }
}

extension Error {
  /// The error itself; of one that names a child, that child's.
  fileprivate var fromChild: any Error {
    guard let error = self as? ProcedureError, error.code == .child else { return self }
    return error.underlyingErrors.first ?? self
  }
}
