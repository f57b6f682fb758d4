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
      core.attachments.with(FinishWaiters.self) { _ = $0.append(waiter) }
      return true
    }
  }

  /// Returns when it has finished, or the waiting task is cancelled.
  private func wait() async {
    MissingReport.schedule(for: self)
    let waiter = WaiterKey()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = read { core in
          guard !core.machine.isRetired, !Task.isCancelled else { return false }
          core.attachments.with(FinishWaiters.self) { waiters in
            waiter.key = waiters.append(.task(continuation))
          }
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      let found = read { core -> FinishWaiter? in
        guard let waiters = core.waiters, let key = waiter.key else { return nil }
        return waiters.remove(key)
      }
      found?.resume()
    }
  }
}

/// Where a waiter is. Guarded by the procedure's lock.
private final class WaiterKey: @unchecked Sendable {
  var key: SlabKey?
}
