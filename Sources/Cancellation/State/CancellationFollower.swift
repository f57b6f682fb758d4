/// Something that is cancelled with a token, and is none itself: it is marked with the tokens that depend on that one,
/// before any handler is called.
package protocol CancellationFollower: AnyObject, Sendable {
  /// The first part: from then on it reads cancelled. Called once, by the thread that cancels the token, for which those
  /// wait that must not run ahead of it.
  ///
  /// So it runs no user code, and releases nothing: what it may hold the last reference to is kept by what it returns.
  /// Nor does it allocate anything for each of many: one that waits for the allocator waits until others leave it alone.
  func mark(becauseOf reason: CancellationReason) -> MarkedFollower

  /// The second part, which may run user code.
  func deliverCancel(_ reason: CancellationReason)
}

/// One that reads cancelled.
package struct MarkedFollower: Sendable {
  /// What is left of its cancel.
  package enum Rest: Sendable {
    /// Another cancel came first.
    case nothing
    case delivery
    /// To deliver it and all below it.
    case tree(@Sendable () -> Void)
  }

  let follower: any CancellationFollower
  let reason: CancellationReason
  /// Its own token, which is to be cancelled now; nil if it has none, or another cancel sees to it.
  let own: CancellationState?
  private let rest: Rest

  init(
    _ follower: any CancellationFollower, _ reason: CancellationReason, own: CancellationState?,
    rest: Rest
  ) {
    (self.follower, self.reason, self.own, self.rest) = (follower, reason, own, rest)
  }

  /// Carries out what is left, when the handlers of its own token have been called.
  func carryOutRest() {
    switch rest {
    case .nothing: break
    case .delivery: follower.deliverCancel(reason)
    case .tree(let deliver): deliver()
    }
  }

  /// Marks its own token, and what depends on that.
  ///
  /// - Returns: the rest, which runs user code.
  package func markOwnToken() -> @Sendable () -> Void {
    let begun = own?.begin(.cancelled(reason))
    return {
      begun?.finish()
      carryOutRest()
    }
  }
}

/// The place of one on its token, which does not keep it alive.
final class WeakFollower: Sendable {
  weak let follower: (any CancellationFollower)?

  init(_ follower: any CancellationFollower) {
    self.follower = follower
  }
}
