public import ProcedurePrimitives

/// A handler's place on a token. Dropping it does nothing: the handler stays registered.
public struct CancellationRegistration: Sendable {
  @usableFromInline let state: CancellationState?
  @usableFromInline let key: SlabKey?

  @inlinable
  init(state: CancellationState?, key: SlabKey?) {
    self.state = state
    self.key = key
  }

  /// The registration of a handler that was called or skipped at once.
  @inlinable
  static var inert: CancellationRegistration { CancellationRegistration(state: nil, key: nil) }

  /// Takes the handler off the token.
  ///
  /// Never waits, so it cannot deadlock, even inside a handler. O(1). When it returns false, the
  /// handler may still be running on another thread; if that matters,
  /// `withBlockingCancellationHandler(for:)` and the async `withCancellationHandler(for:)` wait for
  /// it.
  ///
  /// - Returns: true if the handler has not run and never will; its captures are released before
  ///   this returns. False if it ran, is running, or was removed before.
  @discardableResult @inlinable
  public func remove() -> Bool {
    guard let key else { return false }
    return state?.unregister(key) == true
  }
}

extension CancellationState {
  /// Registers a handler; inert if it was called or skipped at once.
  func registration(of handler: CancellationEntry) -> CancellationRegistration {
    register(handler).map { CancellationRegistration(state: self, key: $0) } ?? .inert
  }
}
