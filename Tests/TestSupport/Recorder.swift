internal import Primitives

/// Notes what happened, in order, from any thread.
public final class Recorder<Event: Sendable>: Sendable {
  private let state = Locked<[Event]>([])

  public init() {}

  public var events: [Event] { state.withLock { $0 } }

  public func note(_ event: Event) { state.withLock { $0.append(event) } }
}

/// Counts, from any thread.
public final class Counter: Sendable {
  private let state = Locked((value: 0, highest: 0))

  public init() {}

  public var value: Int { state.withLock { $0.value } }

  /// The highest value there ever was.
  public var highest: Int { state.withLock { $0.highest } }

  @discardableResult
  public func increment() -> Int {
    state.withLock { state in
      state.value += 1
      state.highest = max(state.highest, state.value)
      return state.value
    }
  }

  public func decrement() { state.withLock { $0.value -= 1 } }
}
