internal import ProcedurePrimitives

extension CancellationFollower {
  /// The place of one on its token.
  package struct Place: Sendable {
    fileprivate let state: CancellationState
    fileprivate let key: SlabKey

    /// Why the token was cancelled, whether or not that has come here; nil if it was not.
    package var reason: CancellationReason? { state.isCancelled ? state.outcome?.reason : nil }

    /// It is not cancelled with the token any more.
    package func leave() {
      let follower = state.withMachine { $0.removeDependent(key) }
      _ = follower
    }
  }
}

extension CancellationToken {
  /// Has something cancelled with the token: at once if the token was cancelled before.
  ///
  /// - Returns: its place; nil if the token will not cancel it any more.
  package func follow(_ mark: @escaping CancellationFollower.Mark) -> CancellationFollower.Place? {
    guard let state else { return nil }
    switch state.withMachine({ $0.addDependent(.follower(mark)) }) {
    case .kept(let key): return CancellationFollower.Place(state: state, key: key)
    case .wait(let marking): marking.wait()
    case .settled: break
    }
    if let reason = state.outcome?.reason { mark(reason)?() }
    return nil
  }
}
