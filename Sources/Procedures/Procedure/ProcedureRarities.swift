internal import ProcedurePrimitives

/// The rarest belongings of a procedure. Guarded by its lock.
final class ProcedureRarities: @unchecked Sendable {
  /// An event whose delivery waits for another Dispatch queue.
  var suspendedDelivery: ObserverDelivery?
  var produced = Fifo<Production>()
  /// Of dependencies that have finished.
  var handOvers = Fifo<Edge>()
  /// Children that wait to be heard.
  var unheard = Fifo<Procedure>()
  var waiters = Slab<FinishWaiter>()
  var waiterList = SlabList()
  var source: CancellationTokenSource?
  var token: CancellationToken?
  var cancelReason: CancellationReason?
  var conditions: (any PendingConditions)?
  /// What conditions brought. No dependencies in the eyes of the user, and waited for like them.
  var prerequisites: [Prerequisite] = []
  var exclusion: ExclusionClaim?
  /// The name of the condition that was ignored, and so ended the procedure.
  var ignoredCondition: String?
  /// The dependencies, while they are many and some are taken back.
  var indexedDependencies: IndexedDependencies?
  /// Whether a condition of another procedure adds it to a queue.
  var isClaimed = false
  var registrations: [CancellationRegistration] = []
  /// Where a `finish` is reported that comes after it has ended by itself.
  var lateFinishes: SupervisorReference?
  var timers: [(clock: TimerClock, key: SlabKey)] = []

  /// Leaves tokens and timers, when the procedure has finished.
  func disconnect() {
    source?.complete()
    for registration in registrations { registration.unregister() }
    for timer in timers { timer.clock.service.cancel(timer.key) }
  }
}
