extension ProcedureQueue {
  /// What every unfinished procedure of this queue waits for: a dependency, a condition, a category
  /// that another one holds, a slot, an event that is held back, an observer that is called
  /// elsewhere.
  ///
  /// Asks each procedure in turn; nothing is stopped for it. O(procedures + what they wait for).
  public func snapshot() -> ProcedureQueueSnapshot {
    ProcedureQueueSnapshot(of: procedures, on: description)
  }
}
