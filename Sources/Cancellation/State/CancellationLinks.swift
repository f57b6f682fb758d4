internal import ProcedurePrimitives

/// The rarer connections of a token's state: allocated with the first of them.
///
/// Unchecked because the lock of the state that it belongs to guards it; once taken from there it
/// has one owner.
final class CancellationLinks: @unchecked Sendable {
  /// A place that this state has on another: a linked source on its parent, a combined token on its
  /// operand. Keeps the other alive.
  struct Parent: Sendable {
    var state: CancellationState
    let place: Place
  }

  /// Which list the place is in.
  enum Place: Sendable {
    case handler(SlabKey)
    case dependent(SlabKey)
  }

  /// The pending deadline; the key comes a moment after it.
  struct Deadline: Sendable {
    let clock: TimerClock
    var key: SlabKey?
  }

  @safe @exclusivity(unchecked) var parents = SmallList<Parent>()
  var deadline: Deadline?

  /// Tells a timer that was replaced from the one that counts.
  var deadlineGeneration: UInt64 = 0

  /// Set while a token without a source has handlers: they keep it, and so its deadline, alive.
  var keepsItself: CancellationState?
  var ownsItselfWhileObserved = false

  /// Where a token without a source is listed since it has had a weak target.
  enum Listing: Sendable {
    case none
    case underWay
    case at(SlabKey)
  }

  var listing = Listing.none

  var weakTargets = 0
  var sweepAt = 32
}
