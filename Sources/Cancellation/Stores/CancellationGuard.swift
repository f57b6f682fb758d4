/// Cancels a source when it goes out of scope, unless it was disarmed.
///
/// A source that dies means "not cancelled"; a guard that dies means "cancel". It cannot be copied,
/// so there is one place where the scope ends.
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

  /// Lets the guard go without a cancel.
  public consuming func disarm() {
    isArmed = false
  }

  deinit {
    if isArmed { source.cancel() }
  }
}
