internal import Synchronization

/// A flag and a dictionary of closures under a lock, polled under it too: the plain thread-safe
/// source.
final class LockedSource: Sendable {
  private struct State {
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
    var isCancelled = false
  }

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func register(_ handler: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.next += 1
      state.handlers[state.next] = handler
      return state.next
    }
  }

  func unregister(_ id: Int) {
    let handler = state.withLock { $0.handlers.removeValue(forKey: id) }
    _ = handler
  }

  func cancel() {
    let handlers = state.withLock { state in
      state.isCancelled = true
      defer { state.handlers = [:] }
      return state.handlers.sorted { $0.key < $1.key }
    }
    for (_, handler) in handlers { handler() }
  }
}
