internal import Dispatch
internal import Synchronization

/// What a token source is compared with: an array of closures without a lock, as a subject has it.
final class ClosuresArraySource {
  private var handlers: [(@Sendable () -> Void)?] = []
  private(set) var isCancelled = false

  func register(_ handler: @escaping @Sendable () -> Void) -> Int {
    handlers.append(handler)
    return handlers.count - 1
  }

  func unregister(_ index: Int) {
    handlers[index] = nil
    while case .some(.none) = handlers.last { handlers.removeLast() }
  }

  func cancel() {
    isCancelled = true
    let called = handlers
    handlers = []
    for handler in called { handler?() }
  }
}

/// The same with a lock around flag and array, polled under the lock: the plain thread-safe source.
final class LockedArraySource: Sendable {
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
