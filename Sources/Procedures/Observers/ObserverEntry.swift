internal import Dispatch
internal import Primitives

/// An observer's place on a procedure.
///
/// It knows no procedure, so that a registration which outlives the procedure costs it nothing: a
/// weak reference would make all of its reference counting slow.
final class ObserverEntry: @unchecked Sendable {
  private enum Body: Sendable {
    case observer(any ProcedureObserver)
    case block(ObserverBlock)
  }

  /// Nil once it was taken off, or the procedure has finished.
  private let body: Locked<Body?>
  let events: ProcedureEvents
  let queue: DispatchQueue?

  /// Whether events reach it. Written before the entry is shared, or by who holds the turn.
  @safe @exclusivity(unchecked) var isAttached = false

  init(_ observer: any ProcedureObserver) {
    body = Locked(.observer(observer))
    events = observer.events
    queue = observer.eventQueue
  }

  init(_ block: ObserverBlock, queue: DispatchQueue?) {
    body = Locked(.block(block))
    events = block.event
    self.queue = queue
  }

  /// Whether no event will be delivered to it any more.
  var isRemoved: Bool { body.withLock { $0 == nil } }

  /// Lets go of the observer, which is told nothing from here on. True the first time.
  @discardableResult
  func remove() -> Bool {
    let removed = body.withLock { $0.take() }
    return removed != nil
  }

  /// Calls the observer, unless it was removed. Never under a lock.
  func deliver(_ event: ProcedureEvents, _ delivery: ObserverDelivery, of procedure: Procedure) {
    switch body.withLock({ $0 }) {
    case .observer(let observer): tell(observer, event, delivery, of: procedure)
    case .block(let block): call(block, delivery, of: procedure)
    case nil: break
    }
  }

  private func tell(
    _ observer: any ProcedureObserver, _ event: ProcedureEvents, _ delivery: ObserverDelivery,
    of procedure: Procedure
  ) {
    switch event {
    case .didAttach:
      observer.didAttach(to: procedure)
    case .willExecute:
      offer(.execute, of: procedure) { observer.will(execute: procedure, pendingExecute: $0) }
    case .didExecute:
      observer.did(execute: procedure)
    case .didCancel:
      observer.did(cancel: procedure, withErrors: delivery.cancelErrors)
    case .willAdd:
      if let added = delivery.added { observer.procedure(procedure, willAdd: added) }
    case .didAdd:
      if let added = delivery.added { observer.procedure(procedure, didAdd: added) }
    case .willFinish:
      offer(.finish, of: procedure) {
        observer.will(finish: procedure, withErrors: delivery.errors, pendingFinish: $0)
      }
    case .didFinish:
      observer.did(finish: procedure, withErrors: delivery.errors)
    default:
      preconditionFailure("Internal inconsistency: event \(event.rawValue) is not a single event")
    }
  }

  /// A block has one event, and is told of no other.
  private func call(_ block: ObserverBlock, _ delivery: ObserverDelivery, of procedure: Procedure) {
    switch block {
    case .willExecute(let block): offer(.execute, of: procedure) { block(procedure, $0) }
    case .didExecute(let block): block(procedure)
    case .didCancel(let block): block(procedure, delivery.cancelErrors)
    case .willFinish(let block):
      offer(.finish, of: procedure) { block(procedure, delivery.errors, $0) }
    case .didFinish(let block): block(procedure, delivery.errors)
    case .willAdd(let block), .didAdd(let block):
      if let added = delivery.added { block(procedure, added) }
    }
  }

  /// Makes the procedure wait if the observer kept the event.
  private func offer(
    _ event: ProcedureStateMachine.Holdable, of procedure: Procedure,
    to call: (PendingEvent) -> Void
  ) {
    var pending = PendingEvent(event, of: procedure)
    call(pending)
    if !isKnownUniquelyReferenced(&pending) { pending.hold() }
  }
}
