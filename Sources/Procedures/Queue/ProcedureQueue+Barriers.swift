extension ProcedureQueue {
  /// Adds a procedure that runs alone: after all that was added before has finished, and before
  /// anything that is added later starts.
  ///
  /// ```swift
  /// queue.add(reads)
  /// queue.add(barrier: write)
  /// queue.add(moreReads)   // these see all writes
  /// ```
  ///
  /// Children of groups, and prerequisites of conditions, count with their group or procedure. It
  /// is order, not a dependency: it does not matter how earlier procedures end. A barrier that is
  /// cancelled finishes without executing; procedures that were added after it no longer wait for
  /// it, but still for earlier barriers.
  ///
  /// O(1) for each procedure that is added. The first barrier of a queue is O(count).
  ///
  /// - Returns: whether it was accepted; see `add(_:)`.
  @discardableResult
  public func add(barrier: Procedure) -> Bool {
    list.barriers?.begin(in: list)
    return list.admit(barrier, as: .barrier)
  }

  /// Adds a barrier that runs a closure. See `add(barrier:)`.
  ///
  /// ```swift
  /// queue.add(barrier: { try cache.write() })
  /// ```
  ///
  /// - Returns: the procedure: to wait for it, or to cancel it.
  @discardableResult @_disfavoredOverload  // A trailing closure has no label: that is `add { … }`.
  public func add(barrier block: @escaping @Sendable () throws -> Void) -> BlockProcedure {
    let procedure = BlockProcedure(block)
    add(barrier: procedure)
    return procedure
  }
}
