extension ProcedureQueue {
  /// Suspends the queue, and waits until none of its procedures is between started and finished.
  ///
  /// ```swift
  /// await queue.suspendAndWait()   // nothing of the queue writes any more
  /// try backUp(database)
  /// queue.isSuspended = false
  /// ```
  ///
  /// Setting `isSuspended` starts nothing new; this also waits for procedures that have started, groups with all their
  /// children among them, and for their DidFinish observers. It does not wait for a retry that has given its slot up
  /// between two attempts, which makes none before the queue is resumed. If others resume the queue meanwhile, it does
  /// not wait for the procedures that start then.
  ///
  /// Cancelling the waiting task ends the wait, and the queue stays suspended. In the body of a procedure of this queue
  /// it waits for itself: that procedure is cancelled with `ProcedureError.Code.dependencyCycle`, as with
  /// `waitUntilAllFinished()`.
  ///
  /// - Returns: false if the waiting task was cancelled before they had finished.
  @discardableResult
  public func suspendAndWait() async -> Bool {
    list.isSuspended = true
    // None gets a slot from now on, so these are all.
    for procedure in list.startedProcedures {
      _ = await procedure.outcome(waitingIn: "suspendAndWait()")
      if Task.isCancelled { return false }
      // Its end is known a moment before it leaves, and what the queue says then still counts it.
      await list.waitUntilLeft(procedure)
    }
    return !Task.isCancelled
  }
}

extension ProcedureList {
  /// The members that have a slot: started, or about to.
  fileprivate var startedProcedures: [Procedure] {
    locked { storage in
      var procedures: [Procedure] = []
      storage.machine.buckets.forEachWithSlot { procedures.append($0.procedure) }
      return procedures
    }
  }
}
