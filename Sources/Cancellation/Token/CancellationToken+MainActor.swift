// For closures that are `@MainActor`: written so, or a method of a type on the main actor. Delivered by a
// task on the main actor, as `onCancel(on:)` delivers by `async`, in every case.
extension CancellationToken {
  /// Calls `handler` once, on the main actor, when the token is cancelled.
  ///
  /// ```swift
  /// token.onCancel { @MainActor [weak self] in self?.spinner.stop() }
  /// ```
  ///
  /// It is called some time after the cancel, also by a thread that cancels on the main actor; nothing
  /// waits for it. `remove()` returns true if it will not be called, false if it was, or is on its
  /// way there.
  ///
  /// - Returns: what `remove()` needs. It may be dropped; the handler stays.
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
  /// As the `onCancel` that is called there.
  @discardableResult
  public func onComplete(
    _ handler: @escaping @MainActor @Sendable (_ cancelled: Bool) -> Void
  ) -> CancellationRegistration {
    onComplete(on: nil) { (cancelled: Bool) -> Void in
      Task { @MainActor in handler(cancelled) }
    }
  }
}
