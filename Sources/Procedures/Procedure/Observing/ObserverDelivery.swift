internal import ProcedurePrimitives

/// An event on its way to the observers of a procedure.
///
/// An observer on a queue of its own puts it aside: the turn keeps the delivery with the procedure, gives up its
/// thread, and goes on with the same event when that observer has returned.
struct ObserverDelivery: Sendable {
  /// The event of the turn. It brings others to observers that missed them, and a did-add follows a will-add.
  let event: ProcedureEvents
  private let entries: SmallList<ObserverEntry>
  /// The procedure of a will-add event.
  private let production: Production?
  /// The events that each entry receives, and those of them that the entry at `index` has not received.
  private var events: ProcedureEvents
  private var remaining: ProcedureEvents
  private var index = 0
  /// The event whose call, elsewhere, is waited for.
  private var awaited: ProcedureEvents = []

  init(
    _ event: ProcedureEvents, delivering events: ProcedureEvents,
    to entries: SmallList<ObserverEntry>, of production: Production? = nil
  ) {
    self.event = event
    self.entries = entries
    self.production = production
    self.events = events
    remaining = events
  }

  /// Whether it goes on: then the override of its event was called.
  var wasPutAside: Bool { @inline(__always) get { !awaited.isEmpty } }

  /// The call that it waits for, once it was put aside.
  var awaitedCall: ObserverCall {
    ObserverCall(entry: entries[index], event: awaited, added: production?.procedure)
  }

  /// Calls the observers.
  ///
  /// - Returns: false if one of them is called elsewhere. The rest is with the procedure then, whose turn another
  ///   thread may run already: the caller must do no more of it.
  @inline(__always)
  func run(for procedure: Procedure) -> Bool {
    var (events, remaining, index) = (events, remaining, index)
    let count = entries.count
    while true {
      // 1. Each observer, in the order in which they were added, receives its events before the next one does.
      while index < count {
        guard let event = remaining.first else {
          index += 1
          remaining = events
          continue
        }
        remaining.subtract(event)
        let isCalledElsewhere = entries.withElement(at: index) { entry in
          guard Self.isDue(event, to: entry) else { return false }
          if case .worker = entry.place {} else if entry.isCalledElsewhere { return true }
          entry.deliver(event, of: procedure, adding: production?.procedure)
          return false
        }
        if isCalledElsewhere {
          var rest = self
          (rest.events, rest.remaining) = (events, remaining)
          (rest.index, rest.awaited) = (index, event)
          rest.putAside(in: procedure)
          return false
        }
      }
      // 2. Between will-add and did-add, the procedure is added that the observers know of now.
      guard events == .willAdd, let production else { return true }
      procedure.carryOut(production)
      (events, remaining, index) = (.didAdd, .didAdd, 0)
    }
  }

  /// Whether the entry is to receive the event. Only the holder of the turn asks.
  @inline(__always)
  private static func isDue(_ event: ProcedureEvents, to entry: ObserverEntry) -> Bool {
    if event == .didAttach {
      if entry.isAttached { return false }
      entry.isAttached = true
    }
    if entry.events.contains(event) { return true }
    // The finish also releases observers that do not want it.
    if event == .didFinish { entry.remove() }
    return false
  }

  /// Has the observer called elsewhere that is awaited, and the turn continued when it has returned.
  @inline(never)
  private func putAside(in procedure: Procedure) {
    let call = awaitedCall
    // Before the call: another thread may continue the turn as soon as that has returned.
    procedure.withCore { core in
      core.attachments.with(TurnWork.self) { $0.suspendedDelivery = self }
      core.noteObserverAwaited(at: call.entry.place)
    }
    call.entry.place.perform {
      procedure.noteObserverCalled(at: call.entry.place)
      TurnNote.running(procedure) {
        call.entry.deliver(call.event, of: procedure, adding: call.added)
      }
      procedure.post(.turnGoesOn)
    }
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
  mutating func prepareDelivery(of event: ProcedureEvents, _ detail: inout StepDetail) {
    var events = event
    var production: Production?
    let entries: SmallList<ObserverEntry>
    switch event {
    case .didAttach:
      // 1. Observers that were added: they may have missed a cancel, and the finish.
      if life.cancel == .delivered { events.insert(.didCancel) }
      if life.state == .finished { events.insert(.didFinish) }
      entries = life.state == .finished ? observers.takeAll() : observers.unattached
    case .didCancel where life.takeNewObservers():
      // 2. The override goes before everything else, so that new observers are attached here.
      events.insert(.didAttach)
      entries = observers.entries
    case .didFinish:
      // 3. The last event: an observer that is added from here on receives it when attached.
      entries = observers.takeAll()
    case .willAdd:
      // 4. One of those to add. The rest come in steps of their own.
      guard let pending, let next = pending.produced.popFirst() else { return }
      if !pending.produced.isEmpty { _ = life.post(.produced) }
      production = next
      entries = observers.entries
    default:
      guard observers.wants.contains(event) else { return }
      entries = observers.entries
    }
    detail = .delivery(ObserverDelivery(event, delivering: events, to: entries, of: production))
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
    _ event: ProcedureEvents, _ detail: inout StepDetail, on list: ProcedureList?
  ) -> Bool {
    // Taken out, not matched in place, which would retain the entries.
    if case .delivery(let delivery) = exchange(&detail, with: .none) {
      guard delivery.run(for: self) else { return false }
    }
    if event == .willFinish || event == .didFinish { tellDelegate(event, of: list) }
    return true
  }

  /// Calls the delegate of its queue, if there is one, after the observers.
  @inline(__always)
  final func tellDelegate(_ event: ProcedureEvents, of list: ProcedureList?) {
    if list?.hasDelegate == true { tell(event, delegateOf: list) }
  }

  @inline(never)
  private final func tell(_ event: ProcedureEvents, delegateOf list: ProcedureList?) {
    if peek({ $0.isMember }) { list?.delegate?.tell(event, of: self, errors: errors) }
  }
}
