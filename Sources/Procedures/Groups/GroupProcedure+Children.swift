internal import ProcedurePrimitives

/// A group's knowledge of the end of its children.
struct ChildResults: Sendable {
  var errors: [any Error] = []
  /// Its own errors: of the wrapped procedure, or of the attempt that counts.
  var ownErrors: [any Error] = []
  /// Waits that never end are reported once, though each member has the error.
  var cycles: [[String]] = []
  var failurePolicy = FailurePolicy.keepGoing
  var recoveries: [Recovery] = []
}

/// The meaning of a child's errors for its group.
enum ChildRelation: Sendable {
  /// Errors of a part, and named after it.
  case part
  /// The group's own.
  case whole
  /// The group's own, unless there is a later attempt that counts.
  case wholeSoFar
}

extension GroupProcedure {
  /// Whether anything but the errors themselves may come of asking it.
  final var mayDecideOtherwise: Bool {
    type(of: self) != GroupProcedure.self || hasRecoveries.load() != 0
  }

  /// Lets the override, and then the closures, say which errors of a child that is about to finish
  /// the group takes over.
  ///
  /// They do not receive errors that the group has given it: a closure that answers each failure with another child
  /// would do so without end once the group is cancelled.
  final func decide(about child: Procedure) {
    guard mayDecideOtherwise else {
      if child.failed { takeOver(child.errors, of: child) }
      return
    }
    let errors = child.errors
    let ofGroup = errors.filter { ($0 as? ProcedureError)?.isOfGroup == true }
    let own = errors.filter { ($0 as? ProcedureError)?.isOfGroup != true }
    let kept = recover(child, self.child(child, willFinishWithErrors: own))
    takeOver(errorsToTakeOver(ofGroup + kept, of: child), of: child)
  }

  /// Takes over errors of a child, except consequences of another end in the group.
  final func takeOver(_ errors: [any Error], of child: Procedure) {
    let relation = relation(to: child)
    if case .part = relation, errors.isEmpty { return }
    guard let reference = childList?.owner else { return }
    let beginning = errors.beginning(in: reference).filter { !isOwnCycle($0) }
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
      // An attempt that ended only because of the group leaves the errors of the one before.
      let counts = errors.isEmpty ? !isCancelled : !beginning.isEmpty
      if counts { setOwnErrors(beginning) }
      if case .whole = relation { cancelRemaining(after: child, beginning.first) }
    }
  }

  /// Whether it is a wait that never ends, and the group itself is a part of that.
  private func isOwnCycle(_ error: any Error) -> Bool {
    guard let cycle = error.cycleOfChild else { return false }
    return errors.contains { ($0 as? ProcedureError)?.cycle == cycle }
  }

  /// All that was taken over. Where a cause lies may have become known since: a group that was being
  /// put together while something of it ended.
  final var errorsAtTheEnd: [any Error] {
    let errors = childResults.withLock { $0.ownErrors + $0.errors }
    guard !errors.isEmpty, let reference = childList?.owner else { return errors }
    return errors.beginning(in: reference)
  }

  final func setOwnErrors(_ errors: [any Error]) {
    // The former ones are released after the lock.
    _ = childResults.withLock { exchange(&$0.ownErrors, with: errors) }
  }

  /// Has no errors any more, of its own or of children.
  final func forgetErrors() {
    // Released after the lock.
    _ = childResults.withLock { results in
      (exchange(&results.ownErrors, with: []), exchange(&results.errors, with: []))
    }
  }

  private func cancelRemaining(after child: Procedure, _ error: (any Error)?) {
    guard let error, let childList,
      case .cancelRemaining = childResults.withLock({ $0.failurePolicy })
    else { return }
    let sibling = ProcedureError(.siblingFailed, of: child.name, because: [error.fromChild])
    Self.cancel(childList, errors: [sibling], reason: .failure(error))
  }
}

extension ChildResults {
  /// How many errors a group keeps that does not keep its finished children.
  private static let mostKept = 100

  /// Forgets the errors of children that failed long ago.
  ///
  /// - Returns: references to be released without the lock.
  fileprivate mutating func forgetEarlier() -> [any Error] {
    let surplus = max(errors.count - Self.mostKept, 0)
    let forgotten = Array(errors.prefix(surplus))
    errors.removeFirst(surplus)
    cycles.removeFirst(max(cycles.count - Self.mostKept, 0))
    return forgotten
  }

  /// Whether it is no wait that was reported before.
  fileprivate mutating func isNew(_ error: any Error) -> Bool {
    guard let cycle = error.cycleOfChild else { return true }
    guard !cycles.contains(cycle) else { return false }
    cycles.append(cycle)
    return true
  }
}

extension Error {
  /// The error itself; the child's, if it names a child.
  fileprivate var fromChild: any Error {
    guard let error = self as? ProcedureError, error.code == .child else { return self }
    return error.underlyingErrors.first ?? self
  }

  /// The cycle that it, or the child's error, is about; nil if it is about none.
  fileprivate var cycleOfChild: [String]? {
    guard let cycle = (fromChild as? ProcedureError)?.cycle, !cycle.isEmpty else { return nil }
    return cycle
  }
}
