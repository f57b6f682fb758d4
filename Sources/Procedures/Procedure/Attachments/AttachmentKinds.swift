internal import ProcedurePrimitives

/// A name that was set.
final class GivenName: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var name: String?

  override var remainder: Attachment? { self }
}

/// Requirements before the start, besides plain dependencies.
final class StartRequirements: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var conditions: (any PendingConditions)?
  /// Procedures that conditions brought. Waited for like dependencies; to the user they are none.
  @safe @exclusivity(unchecked) var prerequisites: [Prerequisite] = []
  @safe @exclusivity(unchecked) var exclusion: ExclusionClaim?
  /// Dependencies that are settled, and have something to hand over in the next turn.
  @safe @exclusivity(unchecked) var handOvers = Fifo<Dependency>()
  /// Whether a condition of another procedure adds it to a queue.
  @safe @exclusivity(unchecked) var isClaimed = false

  override func procedureDidLeave() {
    for prerequisite in prerequisites { prerequisite.link.leave() }
  }
}

/// Further work of the procedure's turn.
final class PendingWork: Attachment, @unchecked Sendable {
  /// An event whose delivery waits for another Dispatch queue.
  @safe @exclusivity(unchecked) var suspendedDelivery: ObserverDelivery?
  @safe @exclusivity(unchecked) var produced = Fifo<Production>()
  /// Children that wait to be heard.
  @safe @exclusivity(unchecked) var unheard = Fifo<Procedure>()
}

/// The procedure's ties to tokens and clocks.
final class OuterLinks: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var source: CancellationTokenSource?
  @safe @exclusivity(unchecked) var token: CancellationToken?
  @safe @exclusivity(unchecked) var followed: [FollowerPlace] = []
  /// Whether a worker has marked the procedure, which one of those tokens is about to cancel.
  @safe @exclusivity(unchecked) var isMarkedAhead = false
  @safe @exclusivity(unchecked) var timers: [(clock: TimerClock, key: SlabKey)] = []
  /// The wait that the last look found.
  @safe @exclusivity(unchecked) var seenWaits: [SeenWait] = []
  /// Whether one of the timers is to report that it is waited for and on no queue, or has.
  @safe @exclusivity(unchecked) var isAwaitedOutside = false

  override var remainder: Attachment? {
    guard let token else { return nil }
    let remainder = OuterLinks()
    remainder.token = token
    return remainder
  }

  override var showsWork: Bool { source != nil || token != nil || !timers.isEmpty }

  override func procedureDidLeave() { leave() }

  deinit { leave() }

  /// Why the procedure is about to be cancelled by a token.
  var reasonToCancel: CancellationReason? {
    followed.isEmpty ? nil : followed.lazy.compactMap(\.reason).first
  }

  private func leave() {
    source?.complete()
    for place in followed { place.leave() }
    for timer in timers { timer.clock.service.cancel(timer.key) }
    (source, followed, timers) = (nil, [], [])
  }
}

/// Keeps a procedure that its queue or group refused until it has finished, and the list on whose workers it does:
/// no list keeps it.
final class Refusal: Attachment, @unchecked Sendable {
  @safe @exclusivity(unchecked) var list: ReadyList?
  @safe @exclusivity(unchecked) var procedure: Procedure?
}

/// Answers for questions after the end.
final class Ending: Attachment, @unchecked Sendable {
  /// The group that the procedure was a child of, once it has ended without success.
  @safe @exclusivity(unchecked) var origin: GroupReference?
  /// Why it was cancelled, if its errors do not say so.
  @safe @exclusivity(unchecked) var cancelReason: CancellationReason?
  /// The name of the condition that was ignored, and so ended the procedure.
  @safe @exclusivity(unchecked) var ignoredCondition: String?
  /// Where a `finish` is reported that comes after it has ended by itself.
  @safe @exclusivity(unchecked) var lateFinishes: SupervisorReference?

  override var remainder: Attachment? { self }
}
