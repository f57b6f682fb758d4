internal import ProcedurePrimitives

/// Parts that few tokens need: a deadline, no source, weak targets. Allocated with the first of them.
///
/// Unchecked because the lock of the state that it belongs to guards it; once taken from there it
/// has one owner.
final class CancellationExtras: @unchecked Sendable {
  /// The pending deadline; the key comes a moment after it.
  struct Deadline: Sendable {
    let clock: TimerClock
    let instant: ContinuousClock.Instant
    var key: SlabKey?
  }

  var deadline: Deadline?

  /// Distinguishes a replaced timer from the current one.
  var deadlineGeneration: UInt64 = 0

  /// How the ends of other tokens decide it.
  var rule = CancellationStateMachine.Rule.linked

  /// Set while a token without a source has handlers: they keep it, and so its deadline, alive.
  var keepsItself: CancellationState?
  var ownsItselfWhileObserved = false

  /// The place in the list of tokens without a source, since the token has had a weak target.
  enum Listing: Sendable {
    case none
    case underWay
    case at(SlabKey)
  }

  var listing = Listing.none

  var weakTargets = 0
  var sweepAt = 32

  /// The state has ended, or is released: takes it off its timer and its list. Does not touch the
  /// timer's source.
  func leave() {
    if case .at(let key) = listing { WeaklyObserved.tokens.remove(key) }
    if let deadline, let key = deadline.key { deadline.clock.service.cancel(key) }
  }
}
