public import Dispatch

// The names of couchdeveloper's Cancellation, for code written for that library.

/// couchdeveloper's name of a source.
public typealias CancellationRequest = CancellationTokenSource

/// couchdeveloper's protocol of tokens.
///
/// New code takes a `CancellationToken`, which costs less to poll, and `.never` for none. All
/// members call those of the underlying token.
public protocol CancellationTokenType: Sendable {
  /// The underlying token.
  var cancellationToken: CancellationToken { get }
}

extension CancellationTokenType {
  /// Whether it was cancelled: `CancellationToken.isCancelled`.
  public var isCancelled: Bool { cancellationToken.isCancelled }

  /// Whether it was cancelled, or is certain never to be: `CancellationToken.isCompleted`.
  public var isCompleted: Bool { cancellationToken.isCompleted }

  /// Whether it was cancelled: `CancellationToken.isCancelled`.
  public var isCancellationRequested: Bool { cancellationToken.isCancelled }

  /// Calls `target.cancel()` when it is cancelled, without keeping the target alive.
  @discardableResult
  public func register(cancelable target: some Cancelable) -> CancellationRegistration {
    cancellationToken.register(target)
  }

  /// Calls `target.cancel()` on `queue` when it is cancelled, without keeping the target alive.
  @discardableResult
  public func register(
    cancelable target: some Cancelable, queue: DispatchQueue
  ) -> CancellationRegistration {
    cancellationToken.register(target, on: queue)
  }

  /// Calls `handler` once, on `queue`, when it is cancelled.
  @discardableResult
  public func onCancel(
    queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
  ) -> CancellationRegistration {
    cancellationToken.onCancel(on: queue, handler)
  }

  /// Calls `handler` once, on `queue`, when it has completed: with true if cancelled.
  @discardableResult
  public func onComplete(
    queue: DispatchQueue, _ handler: @escaping @Sendable (_ cancelled: Bool) -> Void
  ) -> CancellationRegistration {
    cancellationToken.onComplete(on: queue, handler)
  }

  /// Calls `handler` once, on `queue`, when it is cancelled: `CancellationToken.onCancel`.
  @discardableResult @_disfavoredOverload
  public func onCancel(
    on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void
  ) -> CancellationRegistration {
    cancellationToken.onCancel(on: queue, handler)
  }

  /// Calls `handler` once, on `queue`, when it has completed: `CancellationToken.onComplete`.
  @discardableResult @_disfavoredOverload
  public func onComplete(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (_ cancelled: Bool) -> Void
  ) -> CancellationRegistration {
    cancellationToken.onComplete(on: queue, handler)
  }

  /// Calls `handler` once when it is cancelled: `CancellationToken.onCancel`.
  @discardableResult @_disfavoredOverload
  public func onCancel(_ handler: @escaping @Sendable () -> Void) -> CancellationRegistration {
    cancellationToken.onCancel(on: nil, handler)
  }

  /// Calls `handler` once when it has completed: `CancellationToken.onComplete`.
  @discardableResult @_disfavoredOverload
  public func onComplete(
    _ handler: @escaping @Sendable (_ cancelled: Bool) -> Void
  ) -> CancellationRegistration {
    cancellationToken.onComplete(on: nil, handler)
  }

  /// A token that is cancelled when this one is and `transform` returns true:
  /// `CancellationToken.map`.
  @_disfavoredOverload
  public func map(_ transform: @escaping @Sendable () -> Bool) -> CancellationToken {
    cancellationToken.map(transform)
  }

  /// When this token is cancelled, the result follows the token that `transform` returns:
  /// `CancellationToken.flatMap`.
  @_disfavoredOverload
  public func flatMap(
    _ transform: @escaping @Sendable () -> any CancellationTokenType
  ) -> CancellationToken {
    cancellationToken.flatMap { transform().cancellationToken }
  }
}

/// A token that is cancelled when either is: `CancellationToken.any(of:)`.
@_disfavoredOverload
public func || (
  left: any CancellationTokenType, right: any CancellationTokenType
) -> CancellationToken {
  left.cancellationToken || right.cancellationToken
}

/// A token that is cancelled when both are: `CancellationToken.all(of:)`.
@_disfavoredOverload
public func && (
  left: any CancellationTokenType, right: any CancellationTokenType
) -> CancellationToken {
  left.cancellationToken && right.cancellationToken
}

extension CancellationToken: CancellationTokenType {
  /// Itself.
  public var cancellationToken: CancellationToken { self }
}

/// couchdeveloper's token that is never cancelled. New code writes `.never`.
public struct CancellationTokenNone: CancellationTokenType {
  /// Makes one. Costs nothing.
  public init() {}

  /// `CancellationToken.never`.
  public var cancellationToken: CancellationToken { .never }
}

extension CancellationTokenSource {
  /// Whether it was cancelled: `isCancelled`.
  public var isCancellationRequested: Bool { isCancelled }
}
