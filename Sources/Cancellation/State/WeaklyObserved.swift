internal import ProcedurePrimitives

/// The tokens without a source that weak targets keep alive.
///
/// A target that is deallocated notifies no token, and a token without a source keeps itself alive
/// as long as it has a handler. So when the list has doubled since the last sweep, a sweep removes
/// dead targets and releases tokens that nothing else keeps, at amortised O(1) each.
final class WeaklyObserved: Sendable {
  static let tokens = WeaklyObserved()

  private struct Listed: Sendable {
    var states = Slab<WeakState>()
    var list = SlabList()
    var sweepAt = WeaklyObserved.fewest
  }

  private static let fewest = 64

  private let listed = Locked(Listed())

  /// The state may end at any time, and then removes itself with the key.
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
