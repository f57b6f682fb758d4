// The names of Nuke's tokens, for code that comes from there.

extension CancellationToken {
  /// Whether it was cancelled, also while its handlers are still running: `isCancelled`.
  public var isCancelling: Bool { isCancelled }

  /// Calls `handler` once when the token is cancelled, at once if it already is: `onCancel`.
  @discardableResult
  public func register(_ handler: @escaping @Sendable () -> Void) -> CancellationRegistration {
    onCancel(handler)
  }

  /// Calls `closure` once when the token is cancelled, at once if it already is: `onCancel`.
  @discardableResult @_disfavoredOverload
  public func register(closure: @escaping @Sendable () -> Void) -> CancellationRegistration {
    onCancel(closure)
  }
}

extension CancellationTokenSource {
  /// Whether it was cancelled, also while handlers are still running: `isCancelled`.
  public var isCancelling: Bool { isCancelled }
}
