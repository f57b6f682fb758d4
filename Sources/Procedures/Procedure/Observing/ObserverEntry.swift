internal import ProcedurePrimitives

/// An observer's place on a procedure: a subclass for each kind of observer.
///
/// It knows no procedure, so that a registration which outlives the procedure costs it nothing: a
/// weak reference would make all of its reference counting slow.
///
/// Unchecked because `status` says which thread may touch what the subclass keeps: the one that
/// brought it from idle to telling, or to gone.
///
/// | status  | deliver       | remove    | told   | told the last event |
/// |---------|---------------|-----------|--------|---------------------|
/// | idle    | → telling     | → gone    | –      | –                   |
/// | telling | inconsistency | → leaving | → idle | → gone              |
/// | leaving | inconsistency | –         | → gone | → gone              |
/// | gone    | –             | –         | –      | –                   |
@usableFromInline
class ObserverEntry: @unchecked Sendable {
  private enum Status {
    static let idle: UInt8 = 0
    static let telling: UInt8 = 1
    /// Taken off while it is called: the thread that calls it releases it.
    static let leaving: UInt8 = 2
    /// Taken off, or the procedure has finished.
    static let gone: UInt8 = 3
  }

  private let status = AtomicByte(Status.idle)
  final let events: ProcedureEvents
  /// Whether didAttach was delivered to it, or need not be. Written before the entry is shared, or
  /// by the holder of the turn.
  @safe @exclusivity(unchecked) final var isAttached = false
  /// Where it wants to be called.
  final let place: ObserverPlace

  init(_ events: ProcedureEvents, at place: ObserverPlace) {
    self.events = events
    self.place = place
  }

  /// Calls the observer. To override.
  func tell(_ event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?) {}

  /// Forgets the observer. To override.
  func letGo() {}

  /// Whether no event will be delivered to it any more.
  final var isRemoved: Bool { status.load() >= Status.leaving }

  /// Releases the observer, which receives no event from here on. True the first time.
  @discardableResult
  final func remove() -> Bool {
    while !isRemoved {
      if status.compareExchange(Status.idle, Status.gone) {
        letGo()
        return true
      }
      if status.compareExchange(Status.telling, Status.leaving) { return true }
    }
    return false
  }

  /// Calls the observer, unless it was removed. Called by the holder of the turn, or for it.
  final func deliver(
    _ event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?
  ) {
    guard status.compareExchange(Status.idle, Status.telling) else { return }
    tell(event, of: procedure, adding: added)
    guard !status.compareExchange(Status.telling, Status.idle) else { return }
    status.store(Status.gone)
    letGo()
  }

  /// Calls the observer with the last event that there is for it, and forgets it, unless it was removed.
  final func deliverLast(_ event: ProcedureEvents, of procedure: Procedure) {
    guard status.compareExchange(Status.idle, Status.telling) else { return }
    tell(event, of: procedure, adding: nil)
    status.store(Status.gone)
    letGo()
  }

  /// What `ObserverDelivery` does for several entries: for one that is called on the worker.
  final func deliverOnWorker(_ event: ProcedureEvents, of procedure: Procedure) {
    if event != .didFinish {
      if events.contains(event) { deliver(event, of: procedure, adding: nil) }
    } else if events.contains(event) {
      deliverLast(event, of: procedure)
    } else {
      remove()
    }
  }

  final var isCalledOnWorker: Bool { if case .worker = place { true } else { false } }

  /// Makes the procedure wait if the observer kept the event.
  final func offer(
    _ event: HoldableEvent, of procedure: Procedure,
    to call: (PendingEvent) -> Void
  ) {
    var pending = PendingEvent(event, of: procedure)
    call(pending)
    if !isKnownUniquelyReferenced(&pending) { pending.hold() }
  }
}
