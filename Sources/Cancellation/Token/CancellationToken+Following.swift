internal import ProcedurePrimitives

/// The place of a follower on its token.
package struct FollowerPlace: Sendable {
  fileprivate let state: CancellationState
  fileprivate let key: SlabKey

  /// Why the token was cancelled, whether or not the follower was notified; nil if it was not.
  package var reason: CancellationReason? { state.isCancelled ? state.outcome?.reason : nil }

  /// The walk that marks the entries of the token, once it was cancelled.
  package var walk: FollowerWalk { FollowerWalk(marking: state.marking ?? TreeMarking()) }

  /// Removes the follower: a later cancel of the token does not reach it.
  package func leave() {
    let follower = state.withMachine { $0.removeDependent(key) }
    _ = follower
  }
}

extension FollowerWalk {
  /// Marks the follower's own token. Called under a lock of the follower.
  ///
  /// - Returns: false if it had ended before.
  package func markOwnToken(
    of source: CancellationTokenSource, becauseOf reason: CancellationReason
  ) -> Bool {
    source.state.mark(.cancelled(reason), by: marking, ifDeadline: nil)
  }
}

extension MarkedFollower {
  /// - Parameter source: the source of the follower's own token, if it has one and is cancelled.
  ///   The follower keeps it alive.
  package init(
    _ follower: any CancellationFollower, _ reason: CancellationReason, isFirst: Bool,
    source: CancellationTokenSource?, rest: Rest
  ) {
    self.init(follower, reason, isFirst: isFirst, own: source?.state, rest: rest)
  }
}

extension CancellationToken {
  /// Cancels `follower` with the token, at once if the token was cancelled before. The token does
  /// not keep it alive.
  ///
  /// - Returns: the follower's place; nil if the token will not cancel it any more.
  package func follow(by follower: any CancellationFollower) -> FollowerPlace? {
    guard let state else { return nil }
    let weak = WeakFollower(follower)
    switch state.withMachine({ $0.addDependent(.follower(weak)) }) {
    case .kept(let key): return FollowerPlace(state: state, key: key)
    case .wait(let marking): marking.wait()
    case .settled: break
    }
    // A follower that calls from its own `deinit` cannot be reached any more.
    if let reason = state.outcome?.reason, let follower = weak.follower {
      FollowerWalk.begin { follower.mark(becauseOf: reason, by: $0, into: &$1) }()
    }
    return nil
  }
}
