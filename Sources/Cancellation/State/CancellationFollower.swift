/// Something that is cancelled with a token, and is none itself: it is marked with the tokens that depend on that one,
/// before any handler is called.
package protocol CancellationFollower: AnyObject, Sendable {
  /// The first part: from then on it reads cancelled. Called once, by the thread that cancels the token, for which those
  /// wait that must not run ahead of it.
  ///
  /// So it runs no user code, and releases nothing: the appended entry keeps an object that it may hold last.
  /// It allocates nothing for each of many: a thread in the allocator waits until others leave that alone.
  ///
  /// - Parameter walk: marks its own token, if it has one, in the same step, so that another cancel which finds it
  ///   marked finds this walk by that token, and waits for it.
  func mark(
    becauseOf reason: CancellationReason, by walk: FollowerWalk, into marked: inout [MarkedFollower]
  )

  /// The second part, which may run user code.
  func deliverCancel(_ reason: CancellationReason)
}

/// The walk that marks a follower.
package struct FollowerWalk: Sendable {
  let marking: TreeMarking
}

/// One that reads cancelled.
package struct MarkedFollower: Sendable {
  /// The rest of its cancel.
  package enum Rest: Sendable {
    /// Another cancel came first, or it is in the rest of a tree.
    case nothing
    case delivery
    /// To deliver those of a tree.
    case tree(@Sendable () -> Void)
  }

  /// Nil for the rest of a tree.
  let follower: (any CancellationFollower)?
  let reason: CancellationReason
  /// Whether it is cancelled by this.
  let isFirst: Bool
  /// Its own token, if it has one, and is cancelled.
  let own: CancellationState?
  private let rest: Rest

  init(
    _ follower: (any CancellationFollower)?, _ reason: CancellationReason, isFirst: Bool,
    own: CancellationState?, rest: Rest
  ) {
    (self.follower, self.reason, self.isFirst) = (follower, reason, isFirst)
    (self.own, self.rest) = (own, rest)
  }

  /// The rest of a tree; its members with tokens come before.
  package init(restOfTree deliver: @escaping @Sendable () -> Void) {
    self.init(nil, .requested, isFirst: true, own: nil, rest: .tree(deliver))
  }

  /// Carries out the rest, after the handlers of its own token have been called.
  func carryOutRest() {
    switch rest {
    case .nothing: break
    case .delivery: follower?.deliverCancel(reason)
    case .tree(let deliver): deliver()
    }
  }
}

/// The place of one on its token, which does not keep it alive.
final class WeakFollower: Sendable {
  /// Not `Weak`, which knows a class.
  private struct Reference {
    weak var follower: (any CancellationFollower)?
  }

  private let reference: Reference

  init(_ follower: any CancellationFollower) {
    reference = Reference(follower: follower)
  }

  var follower: (any CancellationFollower)? { reference.follower }
}
