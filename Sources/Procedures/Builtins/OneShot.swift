internal import Primitives

/// Something that is used at most once and let go of then.
struct OneShot<Value: Sendable>: ~Copyable, Sendable {
  private let value: Locked<Value?>

  init(_ value: Value) {
    self.value = Locked(value)
  }

  /// The value the first time; nil from then on.
  func take() -> Value? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}
