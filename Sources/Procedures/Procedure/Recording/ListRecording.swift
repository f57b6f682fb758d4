/// Records the members of one list, beginning with one call of `ProcedureTimeline.record`.
final class ListRecording: Sendable {
  let store: RecordStore
  let history: HindranceHistory
  /// The number of the record of the list's group; 0 if there is none.
  let parent: UInt64
  /// The index in `store.roots` of the recorded queue, or outermost group.
  let root: Int

  init(in store: RecordStore, _ history: HindranceHistory, parent: UInt64, root: Int) {
    self.store = store
    self.history = history
    self.parent = parent
    self.root = root
  }
}

/// How long each hindrance kept the ready members of a list from being started, while the list is
/// recorded.
///
/// A member reads the times when it becomes ready and again when it starts; the difference shows
/// where its waiting went. So a change of the list's state costs O(1), for any number of waiting
/// members.
final class HindranceHistory: @unchecked Sendable {
  let clock: RecordClock

  private struct State: Sendable {
    var sums = RecordSample()
    var current: Hindrance
  }

  /// The lock of the list guards it.
  @safe @exclusivity(unchecked) private var state: State

  init(_ current: Hindrance, limit: Int, isOnMainThread: Bool = false, by clock: RecordClock) {
    self.clock = clock
    state = State(current: current)
    state.sums.now = clock.now
    (state.sums.limit, state.sums.isOnMainThread) = (Int32(clamping: limit), isOnMainThread)
  }

  /// The list's state may have changed.
  @inline(__always)
  func note(_ hindrance: Hindrance, limit: Int) {
    // The limit of the wait that begins now, or ends now.
    if hindrance == .slot { state.sums.limit = Int32(clamping: limit) }
    guard hindrance != state.current else { return }
    state.sums = sample()
    state.current = hindrance
  }

  /// The time now, and how long each hindrance has lasted until now.
  @inline(__always)
  func sample() -> RecordSample {
    var sample = state.sums
    sample.now = clock.now
    let passed = sample.now - state.sums.now
    sample.times.lanes[state.current.rawValue] += passed
    sample.moments.lanes[state.current.rawValue] +=
      Double(passed) * (Double(state.sums.now) + Double(passed) / 2)
    return sample
  }
}

/// An instant in nanoseconds, and the hindrances of a list until then.
struct RecordSample: Sendable {
  var now: Int64 = 0
  /// How long each one has lasted, in nanoseconds.
  var times = ForEachHindrance<Int64>()
  /// The sum of all instants of each hindrance. Divided by its duration it is their mean, which
  /// gives the order of the hindrances. The last instant would not: a procedure that takes the last
  /// slot itself fills its list.
  var moments = ForEachHindrance<Double>()
  /// The number of slots when the last one had been taken.
  var limit: Int32 = 0
  /// Whether its only worker is the main thread.
  var isOnMainThread = false
}
