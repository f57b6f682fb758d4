internal import ProcedurePrimitives

/// One value that several threads reach.
package final class Slot<Value: Sendable>: Sendable {
  private let content = Locked<Value?>(nil)

  package init() {}

  package var value: Value? {
    get { content.withLock { $0 } }
    set {
      // The old value is released after the lock.
      let old = content.withLock { content in
        defer { content = newValue }
        return content
      }
      _ = consume old
    }
  }

  /// Takes the value out.
  package func take() -> Value? { content.withLock { $0.take() } }
}
