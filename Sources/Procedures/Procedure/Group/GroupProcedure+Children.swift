internal import ProcedurePrimitives

/// The results of a group's children.
struct ChildResults: Sendable {
  var errors: [any Error] = []
  /// Those of the wrapped procedure, or of the attempt that counts.
  var ownErrors: [any Error] = []
  /// The cycles taken over so far: every member has the error of its cycle, and the group takes it
  /// over once.
  var cycles: [[String]] = []
  var failurePolicy = FailurePolicy.keepGoing
  var recoveries: [Recovery] = []
}

enum ChildRelation: Sendable {
  /// The errors of a part are named after it.
  case part
  /// They are the group's own errors.
  case whole
  /// They are the group's own errors, unless a later attempt counts.
  case wholeSoFar
}

extension GroupProcedure {
  /// Whether a subclass or a closure may decide about errors.
  final var mayDecideOtherwise: Bool {
    type(of: self) != GroupProcedure.self || hasRecoveries.load() != 0
  }

  /// Lets the override, and then the closures, say which errors of a child that is about to finish
  /// the group takes over.
  ///
  /// They do not receive errors that the group gave to the child: in a cancelled group, a closure
  /// that answers each failure with another child would otherwise never stop.
  final func decide(about child: Procedure) {
    guard mayDecideOtherwise else {
      if child.failed { add(child.errors, of: child, as: .part) }
      return
    }
    let errors = child.errors
    let ofGroup = errors.filter { ($0 as? ProcedureError)?.isOfGroup == true }
    let own = errors.filter { ($0 as? ProcedureError)?.isOfGroup != true }
    let kept = recover(child, self.child(child, willFinishWithErrors: own))
    let (taken, relation) = takeOver(ofGroup + kept, of: child)
    add(taken, of: child, as: relation)
  }

  /// Adds errors of a child, except errors that follow from another end in the group.
  private func add(_ errors: [any Error], of child: Procedure, as relation: ChildRelation) {
    // 1. Usually there are none.
    if case .part = relation, errors.isEmpty { return }
    // 2. Leave out errors that follow from another end in the group (E3).
    guard let reference = list.owner else { return }
    let beginning = errors.beginning(in: reference).filter { !isOwnCycle($0) }
    // 3. Keep the others, and let the policy decide about the remaining children. What is dropped
    //    is released after the lock.
    switch relation {
    case .part:
      let named = beginning.named(after: child.name)
      let keepsAll = named.isEmpty || keepsFinishedChildren
      let (new, _) = childResults.withLock { results in
        let new = named.filter { results.isNew($0) }
        results.errors += new
        return (new, keepsAll ? [] : results.forgetEarlier())
      }
      cancelRemaining(after: child, new.first)
    case .whole, .wholeSoFar:
      // An attempt that ended only because of the group keeps the errors of the previous attempt.
      let counts = errors.isEmpty ? !isCancelled : !beginning.isEmpty
      if counts { setOwnErrors(beginning) }
      if case .whole = relation { cancelRemaining(after: child, beginning.first) }
    }
  }

  /// Whether it is the error of a cycle with this group as a member.
  private func isOwnCycle(_ error: any Error) -> Bool {
    guard let cycle = error.cycleOfChild else { return false }
    return errors.contains { ($0 as? ProcedureError)?.cycle == cycle }
  }

  /// All errors taken over, filtered again: the cause of a child that ended while the group was
  /// being built may be known only now.
  final var errorsAtTheEnd: [any Error] {
    let errors = childResults.withLock { $0.ownErrors + $0.errors }
    guard !errors.isEmpty, let reference = list.owner else { return errors }
    return errors.beginning(in: reference)
  }

  final func setOwnErrors(_ errors: [any Error]) {
    // The old errors are released after the lock.
    _ = childResults.withLock { exchange(&$0.ownErrors, with: errors) }
  }

  final func forgetErrors() {
    // They are released after the lock.
    _ = childResults.withLock { results in
      (exchange(&results.ownErrors, with: []), exchange(&results.errors, with: []))
    }
  }

  private func cancelRemaining(after child: Procedure, _ error: (any Error)?) {
    guard let error, failurePolicy == .cancelRemaining else { return }
    let sibling = ProcedureError(.siblingFailed, of: child.name, because: [error.fromChild])
    Self.cancel(list, errors: [sibling], reason: .failure(error))
  }
}

extension GroupProcedure {
  /// Whether the end of one child may cancel the others: one wins a race, or one fails and
  /// `failurePolicy` says so.
  final var mayCancelOtherChildren: Bool {
    type(of: self).traits.contains(.firstSuccessCancelsOthers) || failurePolicy == .cancelRemaining
  }
}

extension ChildResults {
  /// The limit on errors if the group does not keep its finished children.
  private static let mostKept = 100

  /// Forgets the oldest errors beyond `mostKept`.
  ///
  /// - Returns: these errors, which the caller releases without the lock.
  fileprivate mutating func forgetEarlier() -> [any Error] {
    let surplus = max(errors.count - Self.mostKept, 0)
    let forgotten = Array(errors.prefix(surplus))
    errors.removeFirst(surplus)
    cycles.removeFirst(max(cycles.count - Self.mostKept, 0))
    return forgotten
  }

  /// False if the error is about a cycle that was taken over before.
  fileprivate mutating func isNew(_ error: any Error) -> Bool {
    guard let cycle = error.cycleOfChild else { return true }
    guard !cycles.contains(cycle) else { return false }
    cycles.append(cycle)
    return true
  }
}

extension Error {
  /// The child's error, if this one names a child; otherwise itself.
  fileprivate var fromChild: any Error {
    guard let error = self as? ProcedureError, error.code == .child else { return self }
    return error.underlyingErrors.first ?? self
  }

  fileprivate var cycleOfChild: [String]? {
    guard let cycle = (fromChild as? ProcedureError)?.cycle, !cycle.isEmpty else { return nil }
    return cycle
  }
}
