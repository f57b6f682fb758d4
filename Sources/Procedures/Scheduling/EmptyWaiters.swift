internal import Dispatch

/// Threads and tasks that wait until a list has no members. Guarded by the list's lock.
struct EmptyWaiters: Sendable {
  private enum Waiter: Sendable {
    case thread(DispatchSemaphore)
    case task(id: UInt64, CheckedContinuation<Bool, Never>)
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

  mutating func add(_ task: CheckedContinuation<Bool, Never>, id: UInt64) {
    waiters.append(.task(id: id, task))
  }

  /// Takes out a task that waits no more; nil if it has been resumed, or has not begun to wait.
  mutating func removeTask(_ id: UInt64) -> CheckedContinuation<Bool, Never>? {
    for (index, waiter) in waiters.enumerated() {
      guard case .task(id, let continuation) = waiter else { continue }
      waiters.remove(at: index)
      return continuation
    }
    return nil
  }

  /// Takes all out, to be resumed without the lock; nil if there are none.
  mutating func takeAll() -> EmptyWaiters? {
    if isEmpty { return nil }
    let all = self
    waiters = []
    return all
  }

  func resume() {
    for waiter in waiters {
      switch waiter {
      case .thread(let semaphore): semaphore.signal()
      case .task(_, let continuation): continuation.resume(returning: true)
      }
    }
  }
}
