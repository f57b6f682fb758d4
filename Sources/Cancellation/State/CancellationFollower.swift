/// Something that is cancelled with a token, and is not a token itself. It is marked together with the dependent
/// tokens, before any handler is called.
package protocol CancellationFollower: AnyObject, Sendable {
  /// The first part: from now on the follower reads cancelled. Called once, by the thread that cancels the token;
  /// threads that must not run ahead of it wait for it.
  ///
  /// So it must run no user code and release nothing: the appended entry keeps any object whose last reference it may
  /// hold. It must not allocate per follower: a thread in the allocator waits until other threads leave it.
  ///
  /// - Parameter walk: marks the follower's own token, if it has one, in the same step. Another cancel that finds the
  ///   follower marked finds this walk by that token, and waits for it.
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

  /// Returns when everything that the walk marks reads cancelled. Must be called without a lock, and not by the walker.
  package func wait() { marking.wait() }
}

/// A follower that reads cancelled, or the rest of a tree of followers.
package struct MarkedFollower: Sendable {
  /// The rest of the follower's cancel.
  package enum Rest: Sendable {
    /// Another cancel came first, or the rest of a tree includes the follower.
    case nothing
    case delivery
    /// Delivers the cancels of a tree.
    case tree(@Sendable () -> Void)
    /// Another walk marks the rest of the tree, and its thread delivers it.
    case walk(FollowerWalk)
  }

  /// Nil for the rest of a tree.
  let follower: (any CancellationFollower)?
  let reason: CancellationReason
  /// Whether this cancel was the follower's first.
  let isFirst: Bool
  /// The follower's own token, if it has one and is cancelled.
  let own: CancellationState?
  let rest: Rest

  init(
    _ follower: (any CancellationFollower)?, _ reason: CancellationReason, isFirst: Bool,
    own: CancellationState?, rest: Rest
  ) {
    (self.follower, self.reason, self.isFirst) = (follower, reason, isFirst)
    (self.own, self.rest) = (own, rest)
  }

  /// The rest of a tree; the members with tokens have entries before it.
  package init(restOfTree deliver: @escaping @Sendable () -> Void) {
    self.init(nil, .requested, isFirst: true, own: nil, rest: .tree(deliver))
  }

  /// Another walk marks the rest of a tree, and its thread delivers it. This walk calls no user code before the other
  /// is done.
  package init(tree walk: FollowerWalk) {
    self.init(nil, .requested, isFirst: false, own: nil, rest: .walk(walk))
  }

  /// Carries out the rest, after the handlers of the follower's own token have been called.
  func carryOutRest() {
    switch rest {
    case .nothing, .walk: break
    case .delivery: follower?.deliverCancel(reason)
    case .tree(let deliver): deliver()
    }
  }
}

/// The entry of a follower on its token, which does not keep the follower alive.
final class WeakFollower: Sendable {
  /// `Weak` needs a class type, and an existential is none.
  private struct Reference {
    weak var follower: (any CancellationFollower)?
  }

  private let reference: Reference

  init(_ follower: any CancellationFollower) {
    reference = Reference(follower: follower)
  }

  var follower: (any CancellationFollower)? { reference.follower }
}
