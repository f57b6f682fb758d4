internal import ProcedurePrimitives

/// Keeps only the latest work going: each new token cancels the previous one.
///
/// ```swift
/// let searches = SerialCancellation()
/// func search(_ text: String) { client.search(text, token: searches.renew()) }
/// ```
///
/// Exactly one of concurrent `renew()`s gets a token that stays pending. When the object is
/// released, the current token is cancelled.
public final class SerialCancellation: Sendable {
  private enum State: Sendable {
    case open(CancellationTokenSource?)
    case cancelled
  }

  private let state = Locked(State.open(nil))

  /// Makes one without a current token.
  public init() {}

  deinit {
    cancel()
  }

  /// Cancels the previous token, then returns a new one. By then the inline handlers of the
  /// previous token have returned.
  ///
  /// After `cancel()` it returns a cancelled token.
  public func renew() -> CancellationToken {
    let source = CancellationTokenSource()
    let previous: CancellationTokenSource?? = state.withLock { state in
      guard case .open(let previous) = state else { return nil }
      state = .open(source)
      return .some(previous)
    }
    guard let previous else { return .cancelled }
    previous?.cancel()
    return source.token
  }

  /// Cancels the current token, and every later one from its beginning.
  ///
  /// To cancel only the current one, call `renew()` and ignore the result.
  public func cancel() {
    let current: CancellationTokenSource? = state.withLock { state in
      defer { state = .cancelled }
      if case .open(let current) = state { return current }
      return nil
    }
    current?.cancel()
  }
}
