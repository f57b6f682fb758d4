internal import ProcedurePrimitives

/// A name that was set.
final class GivenName: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var name: String?

  override var fate: Fate { .stays }
}

/// What goes from one procedure to the next.
final class Values: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var input = StoredValue()
  /// A value of the procedure's `Output`, or an error.
  @safe @exclusivity(unchecked) var output = StoredValue()
  /// The finish that counts brought the output.
  @safe @exclusivity(unchecked) var isOutputFinal = false

  override var fate: Fate { .stays }
}

/// What a procedure needs before it starts, beside plain dependencies.
final class StartRequirements: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var conditions: (any PendingConditions)?
  /// What conditions brought. No dependencies in the eyes of the user, and waited for like them.
  @safe @exclusivity(unchecked) var prerequisites: [Prerequisite] = []
  @safe @exclusivity(unchecked) var exclusion: ExclusionClaim?
  /// Of dependencies that have finished.
  @safe @exclusivity(unchecked) var handOvers = Fifo<Edge>()
  /// Whether a condition of another procedure adds it to a queue.
  @safe @exclusivity(unchecked) var isClaimed = false
}

/// What the turn of a procedure has to do besides.
final class PendingWork: Attachment, @unchecked Sendable {
  /// An event whose delivery waits for another Dispatch queue.
  @safe @exclusivity(unchecked) var suspendedDelivery: ObserverDelivery?
  @safe @exclusivity(unchecked) var produced = Fifo<Production>()
  /// Children that wait to be heard.
  @safe @exclusivity(unchecked) var unheard = Fifo<Procedure>()
}

/// What ties a procedure to tokens and clocks.
final class OuterLinks: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var source: CancellationTokenSource?
  @safe @exclusivity(unchecked) var token: CancellationToken?
  @safe @exclusivity(unchecked) var followed: [FollowerPlace] = []
  /// Whether a worker has marked the procedure, which one of those tokens is about to cancel.
  @safe @exclusivity(unchecked) var isMarkedAhead = false
  @safe @exclusivity(unchecked) var timers: [(clock: TimerClock, key: SlabKey)] = []
  /// What the last look found it waiting for.
  @safe @exclusivity(unchecked) var seenWaits: [SeenWait] = []
  /// Whether one of the timers is to report that it is waited for and on no queue, or has.
  @safe @exclusivity(unchecked) var isAwaitedOutside = false

  override var fate: Fate {
    guard let token else { return .leaves }
    let remainder = OuterLinks()
    remainder.token = token
    return .leavesBehind(remainder)
  }

  deinit { leave() }

  /// Why the procedure is about to be cancelled by a token.
  var reasonToCancel: CancellationReason? {
    followed.isEmpty ? nil : followed.lazy.compactMap(\.reason).first
  }

  /// The procedure has finished, or gone.
  func leave() {
    source?.complete()
    for place in followed { place.leave() }
    for timer in timers { timer.clock.service.cancel(timer.key) }
    (source, followed, timers) = (nil, [], [])
  }
}

/// How far a procedure is by its own word.
final class OwnProgress: Attachment, @unchecked Sendable {
  /// The fraction that it reported last.
  @safe @exclusivity(unchecked) var fraction: Double?
  @safe @exclusivity(unchecked) var weight: Double?
  /// While a reader watches it.
  @safe @exclusivity(unchecked) var node: ProgressNode?

  override var fate: Fate { .stays }
}

/// What is asked for after the end.
final class Ending: Attachment, @unchecked Sendable {
  /// The group that the procedure was a child of, once it has ended without success.
  @safe @exclusivity(unchecked) var origin: GroupReference?
  /// Why it was cancelled, if its errors do not say so.
  @safe @exclusivity(unchecked) var cancelReason: CancellationReason?
  /// The name of the condition that was ignored, and so ended the procedure.
  @safe @exclusivity(unchecked) var ignoredCondition: String?
  /// Where a `finish` is reported that comes after it has ended by itself.
  @safe @exclusivity(unchecked) var lateFinishes: SupervisorReference?

  override var fate: Fate { .stays }
}
