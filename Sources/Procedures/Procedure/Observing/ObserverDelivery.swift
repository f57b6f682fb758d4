internal import ProcedurePrimitives

/// An event on its way to the observers of a procedure.
///
/// If an observer is called elsewhere, the delivery is suspended: the turn keeps it with the
/// procedure, gives up its thread, and continues with the same event when the observer has
/// returned.
struct ObserverDelivery: Sendable {
  /// The event of the turn. Observers also get earlier events that they missed, and a did-add
  /// follows a will-add.
  let event: ProcedureEvents
  private let entries: SmallList<ObserverEntry>
  /// The procedure of a will-add event.
  private let addition: PendingAddition?
  /// The events that each entry receives, and those of them that the entry at `index` has not
  /// received.
  private var events: ProcedureEvents
  private var remaining: ProcedureEvents
  private var index = 0
  /// The event whose call, elsewhere, the turn waits for.
  private var awaited: ProcedureEvents = []

  init(
    _ event: ProcedureEvents, delivering events: ProcedureEvents,
    to entries: SmallList<ObserverEntry>, of addition: PendingAddition? = nil
  ) {
    self.event = event
    self.entries = entries
    self.addition = addition
    self.events = events
    remaining = events
  }

  /// Whether it was suspended: then the override of its event was called.
  var wasPutAside: Bool { @inline(__always) get { !awaited.isEmpty } }

  /// The call that it waits for, once it was suspended.
  var awaitedCall: ObserverCall {
    ObserverCall(entry: entries[index], event: awaited, added: addition?.procedure)
  }

  /// Calls the observers.
  ///
  /// - Returns: false if one of them is called elsewhere. The procedure keeps the remaining
  ///   delivery then, and another thread may already run its turn: the caller must do nothing more
  ///   of it.
  @inline(__always)
  func run(for procedure: Procedure) -> Bool {
    var (events, remaining, index) = (events, remaining, index)
    let count = entries.count
    while true {
      // 1. Each observer receives its events before the next one does, in the order in which they
      //    were added.
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
          entry.deliver(event, of: procedure, adding: addition?.procedure)
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
      // 2. The procedure that the observers know of now is added between will-add and did-add.
      guard events == .willAdd, let addition else { return true }
      procedure.carryOut(addition)
      (events, remaining, index) = (.didAdd, .didAdd, 0)
    }
  }

  /// Whether the entry must receive the event. Called only by the holder of the turn.
  @inline(__always)
  private static func isDue(_ event: ProcedureEvents, to entry: ObserverEntry) -> Bool {
    if event == .didAttach {
      if entry.isAttached.value { return false }
      entry.isAttached.value = true
    }
    if entry.events.contains(event) { return true }
    // The finish also releases observers that do not want the event.
    if event == .didFinish { entry.remove() }
    return false
  }

  /// Has the awaited observer called elsewhere; the turn continues when it has returned.
  @inline(never)
  private func putAside(in procedure: Procedure) {
    let call = awaitedCall
    // Store it before the call: another thread may continue the turn as soon as the call has
    // returned.
    procedure.withCore { core in
      core.attachments.with(TurnWork.self) { $0.value.suspendedDelivery = self }
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
  /// Collects the observers of the event that the machine has returned, in the same critical
  /// section.
  ///
  /// Not inlined: most procedures have no observers.
  @inline(never)
  mutating func prepareDelivery(of event: ProcedureEvents, _ detail: inout StepDetail) {
    var events = event
    var addition: PendingAddition?
    let entries: SmallList<ObserverEntry>
    switch event {
    case .didAttach:
      // 1. Newly added observers may have missed a cancel, and the finish.
      if life.cancel == .delivered { events.insert(.didCancel) }
      if life.state == .finished { events.insert(.didFinish) }
      entries = life.state == .finished ? observers.takeAll() : observers.unattached
    case .didCancel where life.takeNewObservers():
      // 2. The override comes before everything else, so new observers are attached here.
      events.insert(.didAttach)
      entries = observers.entries
    case .didFinish:
      // 3. The last event: an observer that is added later receives it when it is attached.
      entries = observers.takeAll()
    case .willAdd:
      // 4. One of the procedures to add. The rest come in steps of their own.
      guard let deferred, let next = deferred.value.additions.popFirst() else { return }
      if !deferred.value.additions.isEmpty { _ = life.post(.additionPending) }
      addition = next
      entries = observers.entries
    default:
      guard observers.wants.contains(event) else { return }
      entries = observers.entries
    }
    detail = .delivery(ObserverDelivery(event, delivering: events, to: entries, of: addition))
  }
}

extension Procedure {
  /// Calls the observers of an event, and then the queue's delegate, if the event is for it.
  ///
  /// Not inlined: most events have neither observers nor a delegate.
  ///
  /// - Returns: false if the turn waits for an observer that is called elsewhere.
  @inline(never)
  final func deliver(
    _ event: ProcedureEvents, _ detail: inout StepDetail, on list: ProcedureList?
  ) -> Bool {
    // It is taken out, not matched in place, which would retain the entries.
    if case .delivery(let delivery) = exchange(&detail, with: .none) {
      guard delivery.run(for: self) else { return false }
    }
    if event == .willFinish || event == .didFinish { notifyDelegate(event, of: list) }
    return true
  }

  /// Calls the delegate of its queue, if there is one, after the observers.
  @inline(__always)
  final func notifyDelegate(_ event: ProcedureEvents, of list: ProcedureList?) {
    if list?.hasDelegate == true { notify(event, delegateOf: list) }
  }

  @inline(never)
  private final func notify(_ event: ProcedureEvents, delegateOf list: ProcedureList?) {
    if peek({ $0.isMember }) { list?.delegate?.notify(event, of: self, errors: errors) }
  }
}
