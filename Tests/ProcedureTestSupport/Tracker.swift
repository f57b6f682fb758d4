/// Notes when the last reference to it goes.
package final class Tracker: Sendable {
  private let onDeinit: @Sendable () -> Void

  package init(_ onDeinit: @escaping @Sendable () -> Void) {
    self.onDeinit = onDeinit
  }

  deinit { onDeinit() }
}
