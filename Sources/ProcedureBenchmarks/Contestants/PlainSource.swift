internal import ProcedurePrimitives

/// The code that replaces a token: a flag and a dictionary of closures under a lock.
final class PlainSource: Sendable {
  private struct State {
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
    var isCancelled = false
  }

  private let state = Locked(State())

  func register(_ handler: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.next += 1
      state.handlers[state.next] = handler
      return state.next
    }
  }

  func unregister(_ id: Int) {
    // The handler is released after the lock has been unlocked.
    let handler = state.withLock { $0.handlers.removeValue(forKey: id) }
    blackHole(handler)
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
