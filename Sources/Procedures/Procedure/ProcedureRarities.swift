internal import ProcedurePrimitives

/// The rarest belongings of a procedure, a struct for each concept. Guarded by its lock.
final class ProcedureRarities: @unchecked Sendable {
  var requirements = StartRequirements()
  var pending = PendingWork()
  var links = OuterLinks()
  var waiters = FinishWaiters()
  /// Where a `finish` is reported that comes after it has ended by itself.
  var lateFinishes: SupervisorReference?
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
