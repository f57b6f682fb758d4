/// Something that is cancelled with a token, and is none itself: it is marked with the tokens that depend on that one,
/// before any handler is called.
package enum CancellationFollower {
  /// Marks it: from then on it reads cancelled. Called by the thread that cancels, with no lock held; runs no user
  /// code.
  ///
  /// - Returns: what is left of its cancel, and may run some. Called once, before the handlers of the token.
  package typealias Mark = @Sendable (CancellationReason) -> (@Sendable () -> Void)?
}
