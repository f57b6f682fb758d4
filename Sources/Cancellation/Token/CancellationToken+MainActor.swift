// These overloads take `@MainActor` closures, including methods of types on the main actor. A task
// on the main actor delivers in every case, as `async` does for `onCancel(on:)`.
extension CancellationToken {
  /// Calls `handler` once, on the main actor, when the token is cancelled.
  ///
  /// ```swift
  /// token.onCancel { @MainActor [weak self] in self?.spinner.stop() }
  /// ```
  ///
  /// It is called some time after the cancel, even if the cancel comes from the main actor; nothing
  /// waits for it. `remove()` returns true if it will not be called, false if it was called or its
  /// task was started.
  ///
  /// - Returns: the registration, whose `remove()` takes the handler back. You may drop it; the
  ///   handler stays.
  @discardableResult
  public func onCancel(
    _ handler: @escaping @MainActor @Sendable () -> Void
  ) -> CancellationRegistration {
    onCancel(on: nil) { () -> Void in
      Task { @MainActor in handler() }
    }
  }

  /// Calls `handler` once, on the main actor, when the token has completed: with true if cancelled.
  ///
  /// It is delivered in the same way as by `onCancel`.
  @discardableResult
  public func onComplete(
    _ handler: @escaping @MainActor @Sendable (_ cancelled: Bool) -> Void
  ) -> CancellationRegistration {
    onComplete(on: nil) { (cancelled: Bool) -> Void in
      Task { @MainActor in handler(cancelled) }
    }
  }
}
