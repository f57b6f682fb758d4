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
package struct FollowerWalk: Equatable, Sendable {
  let marking: TreeMarking

  package static func == (left: FollowerWalk, right: FollowerWalk) -> Bool {
    left.marking === right.marking
  }

  /// Returns when all that the walk marks reads cancelled. Called with no lock held, and not by the walker.
  package func wait() { marking.wait() }
}

/// One that reads cancelled; or the rest of a tree.
package struct MarkedFollower: Sendable {
  /// The rest of its cancel.
  package enum Rest: Sendable {
    /// Another cancel came first, or it is in the rest of a tree.
    case nothing
    case delivery
    /// To deliver those of a tree.
    case tree(@Sendable () -> Void)
    /// That of another walk, which marks the rest of a tree.
    case walk(FollowerWalk)
  }

  /// Nil for the rest of a tree.
  let follower: (any CancellationFollower)?
  let reason: CancellationReason
  /// Whether it is cancelled by this.
  let isFirst: Bool
  /// Its own token, if it has one, and is cancelled.
  let own: CancellationState?
  let rest: Rest

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

  /// The rest of a tree is marked by another walk, and delivered by that one's thread. No user code is called before it
  /// is done.
  package init(tree walk: FollowerWalk) {
    self.init(nil, .requested, isFirst: false, own: nil, rest: .walk(walk))
  }

  /// Carries out the rest, after the handlers of its own token have been called.
  func carryOutRest() {
    switch rest {
    case .nothing, .walk: break
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
