internal import ProcedurePrimitives

/// The tokens without a source that weak targets keep alive.
///
/// A target that dies notifies no token, and a token that is released keeps itself as long as it
/// has a handler. So these are looked through when there are twice as many as were alive the last
/// time: dead targets leave, and with them tokens that nothing else keeps, each at amortised O(1).
final class WeaklyObserved: Sendable {
  static let tokens = WeaklyObserved()

  private struct Listed: Sendable {
    var states = Slab<WeakState>()
    var list = SlabList()
    var sweepAt = WeaklyObserved.fewest
  }

  private static let fewest = 64

  private let listed = Locked(Listed())

  /// The state may go at any time, and then takes itself off with the key.
  func add(_ observed: CancellationState) -> SlabKey {
    let (key, due) = listed.withLock { listed in
      let key = listed.states.append(WeakState(observed), to: &listed.list)
      guard listed.states.count >= listed.sweepAt else { return (key, [WeakState]()) }
      listed.sweepAt = .max  // One thread sweeps.
      return (key, listed.states.elements(of: listed.list))
    }
    if !due.isEmpty { sweep(due) }
    return key
  }

  func remove(_ key: SlabKey) {
    let removed = listed.withLock { $0.states.remove(key, from: &$0.list) }
    _ = removed
  }

  private func sweep(_ due: [WeakState]) {
    for weak in due { weak.state?.dropDeadTargets() }
    listed.withLock { $0.sweepAt = max(Self.fewest, $0.states.count * 2) }
  }
}
