internal import ProcedurePrimitives

/// Counts, from any thread.
package final class Counter: Sendable {
  private let state = Locked((value: 0, highest: 0))

  package init() {}

  package var value: Int { state.withLock { $0.value } }

  /// The highest value there ever was.
  package var highest: Int { state.withLock { $0.highest } }

  @discardableResult
  package func increment() -> Int {
    state.withLock { state in
      state.value += 1
      state.highest = max(state.highest, state.value)
      return state.value
    }
  }

  package func decrement() { state.withLock { $0.value -= 1 } }
}
