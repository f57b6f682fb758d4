// The names that programs written before record 0102 use: they compile, and the compiler says what
// to write.

extension CancellationRegistration {
  /// Takes the handler off the token: `remove()`.
  @available(*, deprecated, renamed: "remove()")
  @discardableResult @inlinable
  public func unregister() -> Bool { remove() }
}

extension CancellationToken {
  /// Whether the token was cancelled, once that is known: `waitUntilCancelled()`.
  @available(*, deprecated, renamed: "waitUntilCancelled()")
  public var cancelled: Bool { get async { await waitUntilCancelled() } }
}
