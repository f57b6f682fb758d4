internal import ProcedurePrimitives

/// An event on its way to the observers of a procedure.
///
/// An observer on a queue of its own puts it aside: the turn keeps the delivery with the procedure, gives up its
/// thread, and goes on with the same event when that observer has returned.
struct ObserverDelivery: Sendable {
  /// The event of the turn. It brings others to observers that missed them, and a did-add follows a will-add.
  let event: ProcedureEvents
  private let entries: SmallList<ObserverEntry>
  /// What a will-add event is about.
  private let production: Production?
  /// The events that are not delivered to all. The first is on its way.
  private var remaining: ProcedureEvents
  /// The next entry to receive the first of them.
  private var index = 0
  /// Whether it was put aside: then the override of its event was called.
  private(set) var wasPutAside = false

  /// - Parameter events: those to deliver, one after another, each to all entries that want it.
  init(
    _ event: ProcedureEvents, delivering events: ProcedureEvents,
    to entries: SmallList<ObserverEntry>, of production: Production? = nil
  ) {
    self.event = event
    self.entries = entries
    self.production = production
    remaining = events
  }

  /// Calls the observers.
  ///
  /// - Returns: false if one of them is called elsewhere. The rest is with the procedure then, whose turn another
  ///   thread may run already: the caller must do no more of it.
  mutating func run(for procedure: Procedure) -> Bool {
    while let event = remaining.first {
      // 1. All observers that want the event, in the order in which they were added.
      while index < entries.count {
        let entry = entries[index]
        index += 1
        guard Self.isDue(event, to: entry) else { continue }
        guard case .worker = entry.place else {
          putAside(at: entry, event, of: procedure)
          return false
        }
        entry.deliver(event, of: procedure, adding: production?.procedure)
      }
      // 2. What comes between two events: the procedure is added that the observers know of now.
      if event == .willAdd, let production { procedure.carryOut(production) }
      // 3. The finish is the last event of all observers, also of those that did not want it.
      if event == .didFinish { for entry in entries { entry.remove() } }
      remaining.subtract(event)
      index = 0
    }
    return true
  }

  /// Whether the entry is to receive the event. Only the holder of the turn asks.
  private static func isDue(_ event: ProcedureEvents, to entry: ObserverEntry) -> Bool {
    if event == .didAttach {
      if entry.isAttached { return false }
      entry.isAttached = true
    }
    return entry.events.contains(event)
  }

  /// Has an observer called elsewhere, and the turn continued when it has returned.
  private mutating func putAside(
    at entry: ObserverEntry, _ event: ProcedureEvents, of procedure: Procedure
  ) {
    wasPutAside = true
    let rest = self
    let added = production?.procedure
    // Before the call: another thread may continue the turn as soon as that has returned.
    procedure.read { core in
      core.attachments.with(PendingWork.self) { $0.suspendedDelivery = rest }
    }
    entry.place.perform {
      entry.deliver(event, of: procedure, adding: added)
      procedure.listForTurns.requestTurn(of: procedure)
    }
  }

  /// The call that it waits for, once it was put aside.
  var awaitedCall: ObserverCall {
    ObserverCall(
      entry: entries[index - 1], event: remaining.first ?? [], added: production?.procedure)
  }
}

/// One call of an observer on the main actor, or on a queue.
struct ObserverCall: Sendable, Equatable {
  let entry: ObserverEntry
  let event: ProcedureEvents
  let added: Procedure?

  static func == (left: Self, right: Self) -> Bool {
    left.entry === right.entry && left.event == right.event && left.added === right.added
  }
}

extension ProcedureCore {
  /// Gathers the observers of the event that the machine has decided on, in its critical section.
  ///
  /// Not inlined: most procedures have no observers.
  @inline(never)
  mutating func prepareDelivery(of event: ProcedureEvents) -> ObserverDelivery? {
    switch event {
    case .didAttach:
      // 1. Observers that were added: they may have missed a cancel, and the finish.
      var events = ProcedureEvents.didAttach
      if machine.cancel == .delivered { events.insert(.didCancel) }
      guard machine.state == .finished else {
        return ObserverDelivery(event, delivering: events, to: observers.unattached)
      }
      events.insert(.didFinish)
      return ObserverDelivery(event, delivering: events, to: observers.takeAll())
    case .didCancel where machine.takeNewObservers():
      // 2. The override goes before everything else, so that new observers are attached here.
      return ObserverDelivery(
        event, delivering: [.didAttach, .didCancel], to: observers.entries)
    case .didFinish:
      // 3. The last event: an observer that is added from here on receives it when attached.
      return ObserverDelivery(event, delivering: event, to: observers.takeAll())
    case .willAdd:
      guard let pending, let production = pending.produced.popFirst() else { return nil }
      if !pending.produced.isEmpty { _ = machine.post(.produced) }
      return ObserverDelivery(
        event, delivering: [.willAdd, .didAdd], to: observers.entries, of: production)
    default:
      guard observers.wants.contains(event) else { return nil }
      return ObserverDelivery(event, delivering: event, to: observers.entries)
    }
  }
}

extension Procedure {
  /// Calls the observers of an event, and then the queue's delegate, if it is one for that.
  ///
  /// Not inlined: most events have neither observers nor a delegate.
  ///
  /// - Returns: false if the turn waits for an observer that is called elsewhere.
  @inline(never)
  final func deliver(
    _ event: ProcedureEvents, _ detail: inout NextStep.Detail, on list: ReadyList
  ) -> Bool {
    if var delivery = detail.takeDelivery() {
      guard delivery.run(for: self) else { return false }
    }
    if event == .willFinish || event == .didFinish, list.hasDelegate, read({ $0.isMember }) {
      list.delegate?.tell(event, of: self, errors: errors)
    }
    return true
  }
}
