internal import ProcedurePrimitives

/// The parts that few tokens need: a deadline, a life without a source, weak targets. Allocated
/// with the first of them.
///
/// Unchecked because the lock of its state guards it; once taken out of the state it has one owner.
final class CancellationExtras: @unchecked Sendable {
  /// The pending deadline. `key` is nil until the timer has been scheduled.
  struct Deadline: Sendable {
    let clock: TimerClock
    let instant: ContinuousClock.Instant
    var key: SlabKey?
  }

  var deadline: Deadline?

  /// Distinguishes a replaced timer from the current one.
  var deadlineGeneration: UInt64 = 0

  /// How the ends of other tokens decide this one.
  var rule = CancellationStateMachine.Rule.linked

  /// Set while a token without a source has handlers, so that they keep it and its deadline alive.
  var keepsItself: CancellationState?
  var ownsItselfWhileObserved = false

  /// The place of a token without a source in `WeaklyObserved`, once it has had a weak target.
  enum Listing: Sendable {
    case none
    case underWay
    case at(SlabKey)
  }

  var listing = Listing.none

  var weakTargets = 0
  var sweepAt = 32

  /// Cancels the timer and leaves the list, when the state has ended or is released. Does not touch
  /// the timer's source.
  func leave() {
    if case .at(let key) = listing { WeaklyObserved.tokens.remove(key) }
    if let deadline, let key = deadline.key { deadline.clock.service.cancel(key) }
  }
}
