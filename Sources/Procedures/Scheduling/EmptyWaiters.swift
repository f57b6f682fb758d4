internal import Dispatch
internal import ProcedurePrimitives

/// Threads and tasks that wait until a list has no members. Guarded by the list's lock.
struct EmptyWaiters: Sendable {
  private enum Waiter: Sendable {
    case thread(DispatchSemaphore)
    case task(id: UInt64, CheckedContinuation<Void, Never>)
  }

  private var waiters: [Waiter] = []
  private var lastID: UInt64 = 0

  var isEmpty: Bool { waiters.isEmpty }

  mutating func add(_ thread: DispatchSemaphore) {
    waiters.append(.thread(thread))
  }

  mutating func makeID() -> UInt64 {
    lastID += 1
    return lastID
  }

  mutating func add(_ task: CheckedContinuation<Void, Never>, id: UInt64) {
    waiters.append(.task(id: id, task))
  }

  /// Takes out a task that waits no more; nil if it has been resumed, or has not begun to wait.
  mutating func removeTask(_ id: UInt64) -> CheckedContinuation<Void, Never>? {
    for (index, waiter) in waiters.enumerated() {
      guard case .task(id, let continuation) = waiter else { continue }
      waiters.remove(at: index)
      return continuation
    }
    return nil
  }

  /// Takes all out, to be resumed without the lock.
  mutating func takeAll() -> EmptyWaiters {
    let all = self
    waiters = []
    return all
  }

  func resume() {
    for waiter in waiters {
      switch waiter {
      case .thread(let semaphore): semaphore.signal()
      case .task(_, let continuation): continuation.resume()
      }
    }
  }
}

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
