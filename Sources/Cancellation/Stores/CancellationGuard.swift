/// Cancels a source when it goes out of scope, unless it was disarmed.
///
/// A source that is released completes its token *not cancelled*; a guard that is destroyed
/// cancels. It cannot be copied, so exactly one scope ends it.
///
/// ```swift
/// let source = CancellationTokenSource()
/// let guardian = CancellationGuard(source)
/// try start(token: guardian.token)  // a throw cancels the started work
/// guardian.disarm()
/// ```
public struct CancellationGuard: ~Copyable, Sendable {
  private let source: CancellationTokenSource
  private var isArmed = true

  /// Makes an armed guard.
  public init(_ source: CancellationTokenSource) {
    self.source = source
  }

  /// The token of the source.
  public var token: CancellationToken { source.token }

  /// Ends the guard without a cancel.
  public consuming func disarm() {
    isArmed = false
  }

  deinit {
    if isArmed { source.cancel() }
  }
}
