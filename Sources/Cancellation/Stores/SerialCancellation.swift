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

  /// Cancels the previous token, then returns a new one. By then all earlier tokens read cancelled,
  /// and the inline handlers of the previous one have returned.
  ///
  /// The thread of each call runs the handlers of the token that it has replaced. So beside a
  /// concurrent `renew()` the handlers of a token before the previous one may still run.
  ///
  /// After `cancel()` it returns a cancelled token.
  public func renew() -> CancellationToken {
    let source = CancellationTokenSource()
    guard let end = replace(with: .open(source)) else { return .cancelled }
    end.finish()
    return source.token
  }

  /// Cancels the current token, and every later one from its beginning.
  ///
  /// To cancel only the current one, call `renew()` and ignore the result.
  public func cancel() {
    replace(with: .cancelled)?.finish()
  }

  /// The rest of the cancel of a token, which runs its handlers.
  private struct End: Sendable {
    /// Kept, since the lock must not be held when it is released.
    var source: CancellationTokenSource?
    var begun: BegunEnd?

    func finish() { begun?.finish() }
  }

  /// Marks the current token with the lock held, so that it reads cancelled before there is another
  /// one.
  ///
  /// - Returns: nil after `cancel()`.
  private func replace(with next: State) -> End? {
    state.withLock { state in
      guard case .open(let source) = state else { return nil }
      state = next
      return End(source: source, begun: source?.state.begin(.cancelled(.requested)))
    }
  }
}
