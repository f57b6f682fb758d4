internal import ProcedurePrimitives

/// Decides which errors of a child a group takes over.
typealias Recovery =
  @Sendable (_ group: GroupProcedure, _ child: Procedure, [any Error]) -> [any Error]

extension ProcedureProtocol where Self: GroupProcedure {
  /// Decides which errors of a child the group takes over, without a subclass.
  ///
  /// ```swift
  /// let page = GroupProcedure(fetch, render)
  /// page.recover { page, child, errors in
  ///   guard child === fetch, !errors.isEmpty else { return errors }
  ///   page.add(child: FetchFromCache(url))
  ///   return []
  /// }
  /// ```
  ///
  /// The group calls `decide` as it calls `child(_:willFinishWithErrors:)`: for every child,
  /// however it ends, in the group's turn, while the child and its dependents wait. The errors that
  /// it returns become part of the group's errors; `[]` means that the failure is dealt with.
  /// Errors that the child has only because the group was cancelled, or a sibling failed, are not
  /// among them. The group also calls it for a substitute that fails: check which child it is.
  ///
  /// The group calls the override first, then the closures in the order in which they were added,
  /// each with the errors that the previous one returned. A running group calls a new closure for
  /// children that finish later, and releases all closures when it has finished. The closure
  /// receives the group as an argument: do not capture it.
  ///
  /// - Parameter decide: receives the group, the child and its errors; returns the errors that the
  ///   group takes over.
  /// - Returns: this group.
  @discardableResult
  public func recover(
    _ decide:
      @escaping @Sendable (
        _ group: Self, _ child: Procedure, _ errors: [any Error]
      ) -> [any Error]
  ) -> Self {
    childResults.withLock { results in
      guard !isFinished else { return }
      results.recoveries.append { group, child, errors in
        guard let group = group as? Self else { return errors }
        return decide(group, child, errors)
      }
      hasRecoveries.store(1)
    }
    return self
  }
}

extension GroupProcedure {
  /// Passes the errors that the override returned through the closures.
  final func recover(_ child: Procedure, _ errors: [any Error]) -> [any Error] {
    guard hasRecoveries.load() != 0 else { return errors }
    return childResults.withLock { $0.recoveries }.reduce(errors) { errors, recovery in
      recovery(self, child, errors)
    }
  }

  final func releaseRecoveries() {
    guard hasRecoveries.load() != 0 else { return }
    _ = childResults.withLock { exchange(&$0.recoveries, with: []) }
  }
}
