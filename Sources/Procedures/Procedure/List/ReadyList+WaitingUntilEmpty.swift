internal import Dispatch
internal import ProcedurePrimitives

extension ReadyList {
  /// Blocks the thread until the last procedure has left.
  func waitUntilEmpty() {
    let semaphore = DispatchSemaphore(value: 0)
    let mustWait = storage.withLock { storage in
      guard hasMembers(storage) else { return false }
      storage.emptyWaiters.add(semaphore)
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
    let id = storage.withLock { $0.emptyWaiters.makeID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isEmpty: Bool? = storage.withLock { storage in
          if !hasMembers(storage) { return true }
          if Task.isCancelled { return false }
          storage.emptyWaiters.add(continuation, id: id)
          return nil
        }
        if let isEmpty { continuation.resume(returning: isEmpty) }
      }
    } onCancel: {
      let continuation = storage.withLock { $0.emptyWaiters.removeTask(id) }
      continuation?.resume(returning: false)
    }
  }

  /// Whether any procedure has not finished, those that have just arrived included.
  private func hasMembers(_ storage: borrowing Storage) -> Bool {
    storage.machine.count > 0 || !arrivals.isEmpty
  }
}
