extension ProcedureQueue {
  /// Suspends the queue, and waits until all of its started procedures have finished.
  ///
  /// ```swift
  /// await queue.suspendAndWait()   // nothing of the queue writes any more
  /// try backUp(database)
  /// queue.isSuspended = false
  /// ```
  ///
  /// Setting `isSuspended` only keeps procedures from starting. This also waits for started
  /// procedures, including groups with all their children, and for their DidFinish observers. It
  /// does not wait for a retry that has given up its slot between two attempts; such a retry makes
  /// no attempt before the queue is resumed. If other code resumes the queue meanwhile, it does not
  /// wait for procedures that start then.
  ///
  /// Cancelling the waiting task ends the wait, and the queue stays suspended. A procedure of this
  /// queue whose body calls it waits for itself, and is cancelled with
  /// `ProcedureError.Code.dependencyCycle`.
  ///
  /// - Returns: false if the waiting task was cancelled before the procedures had finished.
  @discardableResult
  public func suspendAndWait() async -> Bool {
    list.isSuspended = true
    // 1. No procedure gets a slot from now on, so the list of started ones is complete.
    for procedure in list.startedProcedures {
      _ = await procedure.outcome(waitingIn: "suspendAndWait()")
      if Task.isCancelled { return false }
      // 2. Its end is known shortly before it leaves the list: until then `count` and `procedures`
      //    still include it.
      await list.waitUntilLeft(procedure)
    }
    return !Task.isCancelled
  }
}

extension ProcedureList {
  /// The members with a slot, which have started or are about to.
  fileprivate var startedProcedures: [Procedure] {
    locked { storage in
      var procedures: [Procedure] = []
      storage.machine.buckets.forEachWithSlot { procedures.append($0.procedure) }
      return procedures
    }
  }
}
