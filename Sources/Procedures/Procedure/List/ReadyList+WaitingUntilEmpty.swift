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
    if mustWait { semaphore.wait() }
  }

  /// Returns when the last procedure has left, or the task is cancelled.
  func waitUntilEmpty() async {
    let id = storage.withLock { $0.emptyWaiters.makeID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = storage.withLock { storage in
          guard hasMembers(storage), !Task.isCancelled else { return false }
          storage.emptyWaiters.add(continuation, id: id)
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      let continuation = storage.withLock { $0.emptyWaiters.removeTask(id) }
      continuation?.resume()
    }
  }

  /// Whether any procedure has not finished, those that have just arrived included.
  private func hasMembers(_ storage: borrowing Storage) -> Bool {
    storage.machine.count > 0 || !arrivals.isEmpty
  }
}
