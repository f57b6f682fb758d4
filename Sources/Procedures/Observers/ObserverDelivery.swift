internal import Primitives
internal import Dispatch

/// One or more events on their way to the observers of a procedure, in order.
///
/// It can be put aside: when an observer wants to be called on a queue of its own, the turn keeps
/// the delivery with the procedure, gives up its thread, and goes on once the callback has returned.
///
/// Unchecked because it belongs to whoever holds the procedure's turn.
final class ObserverDelivery: @unchecked Sendable {
  /// What follows when everybody has been told.
  enum Sequel: Sendable {
    case none
    case tellDelegate(QueueDelegateReference, ProcedureEvents)
    case add(Production)
    /// The procedure has finished before.
    case removeObservers
  }

  private let entries: SmallList<ObserverEntry>
  private let events: ProcedureEvents
  @safe @exclusivity(unchecked) private var index = 0
  @safe @exclusivity(unchecked) private var remaining: ProcedureEvents
  let errors: [any Error]
  let cancelErrors: [any Error]
  let added: Procedure?
  let sequel: Sequel

  init(
    _ events: ProcedureEvents, to entries: SmallList<ObserverEntry>, errors: [any Error] = [],
    cancelErrors: [any Error] = [], adding added: Procedure? = nil, sequel: Sequel = .none
  ) {
    self.entries = entries
    self.events = events
    self.remaining = events
    self.errors = errors
    self.cancelErrors = cancelErrors
    self.added = added
    self.sequel = sequel
  }

  /// The observers have been told all there is.
  func removeObservers() {
    for entry in entries { entry.remove() }
  }

  /// The did-add event that follows a will-add.
  func didAdd(_ procedure: Procedure) -> ObserverDelivery {
    ObserverDelivery(.didAdd, to: entries, adding: procedure)
  }

  /// Calls the observers.
  ///
  /// - Returns: false if one of them is called elsewhere. The rest is with the procedure then, and
  ///   its turn goes on when that call has returned; the caller must not touch it any more.
  func run(for procedure: Procedure) -> Bool {
    while index < entries.count {
      let entry = entries[index]
      guard let event = remaining.popFirst() else {
        index += 1
        remaining = events
        continue
      }
      // An observer that was waiting to be attached is, from its first event on.
      entry.isAttached = true
      guard entry.events.contains(event) else { continue }
      guard let queue = entry.queue else {
        entry.deliver(event, self, of: procedure)
        continue
      }
      procedure.read { core in core.withRarities { $0.suspendedDelivery = self } }
      queue.async {
        entry.deliver(event, self, of: procedure)
        procedure.listForTurns.requestTurn(of: procedure)
      }
      return false
    }
    return true
  }
}
