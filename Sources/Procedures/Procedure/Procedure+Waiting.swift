internal import ProcedurePrimitives

extension Procedure {
  /// Waits until the procedure has finished and its didFinish observers have returned.
  ///
  /// Cancelling the waiting task ends only the wait, not the procedure: then this returns
  /// `.cancelled([CancellationError()])` while `outcome` is still nil. A procedure that is on no queue is waited for
  /// until it is on one; a line on standard error says so after ten seconds.
  @discardableResult
  public final func waitUntilFinished() async -> ProcedureOutcome {
    await wait()
    return outcome ?? .cancelled([CancellationError()])
  }

  /// Notifies a waiter when it has finished. False if it has, and the waiter is not notified.
  final func addFinishWaiter(_ waiter: FinishWaiter) -> Bool {
    read { core in
      guard !core.machine.isRetired else { return false }
      core.attachments.with(FinishWaiters.self) { $0.append(waiter) }
      return true
    }
  }

  /// Returns when it has finished, or the waiting task is cancelled.
  private func wait() async {
    MissingReport.schedule(for: self)
    _ = await FinishWaiter.wait { task in
      read { core in
        if core.machine.isRetired { return true }
        if Task.isCancelled { return false }
        core.attachments.with(FinishWaiters.self) { $0.append(task) }
        return nil
      }
    } leaving: { place in
      read { $0.waiters?.remove(at: place) }
    }
  }
}
