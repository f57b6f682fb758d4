internal import ProcedurePrimitives

/// One or more events on their way to the observers of a procedure, in order.
///
/// It can be put aside: when an observer wants to be called on a queue of its own, the turn keeps
/// the delivery with the procedure, gives up its thread, and goes on once the callback has returned.
struct ObserverDelivery: Sendable {
  let events: ProcedureEvents
  private let entries: SmallList<ObserverEntry>
  /// What a will-add or a did-add event is about.
  let production: Production?
  private var index = 0
  private var remaining: ProcedureEvents
  /// The event whose call, elsewhere, is waited for.
  private var awaited: ProcedureEvents = []

  init(
    _ events: ProcedureEvents, to entries: SmallList<ObserverEntry>,
    of production: Production? = nil
  ) {
    self.events = events
    self.entries = entries
    self.production = production
    remaining = events
  }

  /// The did-add event that follows a will-add.
  var didAdd: ObserverDelivery { ObserverDelivery(.didAdd, to: entries, of: production) }

  /// Calls the observers. The finish is their last event; then they are released.
  ///
  /// - Returns: false if one of them is called elsewhere. The rest is with the procedure then, and
  ///   its turn goes on when that call has returned; the caller must do no more of it.
  mutating func run(for procedure: Procedure) -> Bool {
    let added = production?.procedure
    while index < entries.count {
      let entry = entries[index]
      guard let event = remaining.popFirst() else {
        index += 1
        remaining = events
        continue
      }
      if event == .didAttach {
        if entry.isAttached { continue }
        entry.isAttached = true
      }
      guard entry.events.contains(event) else { continue }
      if case .worker = entry.place {
        if event == .didFinish {
          entry.deliverLast(event, of: procedure)
        } else {
          entry.deliver(event, of: procedure, adding: added)
        }
        continue
      }
      awaited = event
      let rest = self
      procedure.read { core in
        core.attachments.with(PendingWork.self) { $0.suspendedDelivery = rest }
      }
      entry.place.perform {
        entry.deliver(event, of: procedure, adding: added)
        procedure.listForTurns.requestTurn(of: procedure)
      }
      return false
    }
    if events.contains(.didFinish) { for entry in entries { entry.remove() } }
    return true
  }
}

extension ObserverDelivery {
  /// The call that it waits for, while it is put aside.
  var awaitedCall: ObserverCall {
    ObserverCall(entry: entries[index], event: awaited, added: production?.procedure)
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
