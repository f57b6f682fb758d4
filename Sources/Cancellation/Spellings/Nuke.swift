// The names of Nuke's tokens, for code written for that library.

extension CancellationToken {
  /// Whether it was cancelled; true even while its handlers still run: `isCancelled`.
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
  /// Whether it was cancelled; true even while handlers still run: `isCancelled`.
  public var isCancelling: Bool { isCancelled }
}
