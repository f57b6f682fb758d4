internal import ProcedurePrimitives

/// The rarest belongings of a procedure, a struct for each concept. Guarded by its lock.
final class ProcedureRarities: @unchecked Sendable {
  var requirements = StartRequirements()
  var pending = PendingWork()
  var links = OuterLinks()
  var waiters = FinishWaiters()
  var ownProgress = OwnProgress()
  /// Where a `finish` is reported that comes after it has ended by itself.
  var lateFinishes: SupervisorReference?

  /// What is known of the procedure when it has finished; nil if that is nothing.
  func remainder() -> ProcedureRarities? {
    guard
      links.token != nil || links.cancelReason != nil || lateFinishes != nil || ownProgress.isUsed
        || requirements.ignoredCondition != nil
    else { return nil }
    let remainder = ProcedureRarities()
    remainder.requirements.ignoredCondition = requirements.ignoredCondition
    remainder.links.token = links.token
    remainder.links.cancelReason = links.cancelReason
    remainder.lateFinishes = lateFinishes
    remainder.ownProgress = ownProgress
    return remainder
  }
}

/// What a procedure needs before it starts, beside plain dependencies.
struct StartRequirements: Sendable {
  var conditions: (any PendingConditions)?
  /// What conditions brought. No dependencies in the eyes of the user, and waited for like them.
  var prerequisites: [Prerequisite] = []
  /// The name of the condition that was ignored, and so ended the procedure.
  var ignoredCondition: String?
  var exclusion: ExclusionClaim?
  /// Of dependencies that have finished.
  var handOvers = Fifo<Edge>()
  /// The dependencies, while they are many and some are taken back.
  var indexedDependencies: IndexedDependencies?
  /// Whether a condition of another procedure adds it to a queue.
  var isClaimed = false
}

/// What the turn of a procedure has to do besides.
struct PendingWork: Sendable {
  /// An event whose delivery waits for another Dispatch queue.
  var suspendedDelivery: ObserverDelivery?
  var produced = Fifo<Production>()
  /// Children that wait to be heard.
  var unheard = Fifo<Procedure>()
}

/// What ties a procedure to tokens and clocks.
struct OuterLinks: Sendable {
  var source: CancellationTokenSource?
  var token: CancellationToken?
  var cancelReason: CancellationReason?
  var registrations: [CancellationRegistration] = []
  var timers: [(clock: TimerClock, key: SlabKey)] = []

  /// The procedure has finished.
  func leave() {
    source?.complete()
    for registration in registrations { registration.unregister() }
    for timer in timers { timer.clock.service.cancel(timer.key) }
  }
}

/// How far a procedure is by its own word.
struct OwnProgress: Sendable {
  /// The fraction that it reported last.
  var fraction: Double?
  var weight: Double?
  /// While a reader watches it.
  var node: ProgressNode?

  var isUsed: Bool { fraction != nil || weight != nil || node != nil }
}
