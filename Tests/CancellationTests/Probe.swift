import Cancellation
import ProcedureTestSupport

/// Counts its living instances: what a handler captured, or a target that a token must not keep.
final class Probe: Sendable {
  private let counter = Counter()

  var living: Int { counter.value }

  func instance() -> any AnyObject & Sendable { Instance(counter) }

  func target(onCancel: @escaping @Sendable () -> Void = {}) -> some Cancelable {
    Target(counter, onCancel: onCancel)
  }

  private final class Instance: Sendable {
    let counter: Counter
    init(_ counter: Counter) {
      self.counter = counter
      counter.increment()
    }
    deinit { counter.decrement() }
  }

  private final class Target: Cancelable {
    let counter: Counter
    let onCancel: @Sendable () -> Void
    init(_ counter: Counter, onCancel: @escaping @Sendable () -> Void) {
      self.counter = counter
      self.onCancel = onCancel
      counter.increment()
    }
    deinit { counter.decrement() }
    func cancel() { onCancel() }
  }
}
