extension ProcedureQueue {
  /// The waits of all unfinished procedures of this queue: a dependency, a condition, a category
  /// that another one holds, a slot, an event that is held back, an observer that is called
  /// elsewhere. The first line says if no thread of Dispatch's pool begins any of them, so that spare threads do.
  ///
  /// Asks each procedure in turn; nothing is stopped for it. O(procedures + their waits).
  public func snapshot() -> ProcedureQueueSnapshot {
    var queue = description
    if list.context.scheduler.isStalled {
      queue += ", on spare threads: each thread of Dispatch's pool is blocked"
    }
    return ProcedureQueueSnapshot(of: procedures, on: queue)
  }
}
