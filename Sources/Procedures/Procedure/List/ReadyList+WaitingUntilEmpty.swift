internal import Dispatch
internal import ProcedurePrimitives

extension ReadyList {
  /// Blocks the thread until the last procedure has left.
  func waitUntilEmpty() {
    let semaphore = DispatchSemaphore(value: 0)
    let mustWait = storage.withLock { storage in
      guard hasMembers(storage) else { return false }
      storage.waiters.append(.thread(semaphore))
      return true
    }
    guard mustWait else { return }
    semaphore.wait(
      in: "blockUntilAllFinished()", instead: "await waitUntilAllFinished()", for: procedures)
  }

  /// Returns when the last procedure has left, or the task is cancelled.
  ///
  /// - Returns: false in the latter case.
  func waitUntilEmpty() async -> Bool {
    await FinishWaiter.wait { task in
      storage.withLock { storage in
        if !hasMembers(storage) { return true }
        if Task.isCancelled { return false }
        storage.waiters.append(task)
        return nil
      }
    } leaving: { place in
      storage.withLock { $0.emptyWaiters?.remove(at: place) }
    }
  }

  /// Whether any procedure has not finished, those that have just arrived included.
  private func hasMembers(_ storage: borrowing Storage) -> Bool {
    storage.machine.count > 0 || !arrivals.isEmpty
  }
}

extension ReadyList.Storage {
  fileprivate var waiters: FinishWaiters {
    mutating get {
      if let emptyWaiters { return emptyWaiters }
      let waiters = FinishWaiters()
      emptyWaiters = waiters
      return waiters
    }
  }
}
