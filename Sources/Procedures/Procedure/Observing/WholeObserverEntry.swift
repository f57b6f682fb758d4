/// The place of an observer that is an object, or a value, of its own.
final class WholeObserverEntry<Observer: ProcedureObserver>: ObserverEntry, @unchecked Sendable {
  @safe @exclusivity(unchecked) private var observer: Observer?

  init(_ observer: Observer) {
    self.observer = observer
    super.init(observer.events, at: observer.place)
  }

  override func letGo() { observer = nil }

  override func tell(
    _ event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?
  ) {
    guard let observer else { return }
    switch event {
    case .didAttach:
      observer.didAttach(to: procedure)
    case .willExecute:
      offer(.execute, of: procedure) { observer.will(execute: procedure, pendingExecute: $0) }
    case .didExecute:
      observer.did(execute: procedure)
    case .didCancel:
      observer.did(cancel: procedure, withErrors: procedure.cancelErrors)
    case .willAdd:
      if let added { observer.procedure(procedure, willAdd: added) }
    case .didAdd:
      if let added { observer.procedure(procedure, didAdd: added) }
    case .willFinish:
      offer(.finish, of: procedure) {
        observer.will(finish: procedure, withErrors: procedure.errors, pendingFinish: $0)
      }
    case .didFinish:
      observer.did(finish: procedure, withErrors: procedure.errors)
    default:
      preconditionFailure("Internal inconsistency: event \(event.rawValue) is not a single event")
    }
  }
}

extension ProcedureObserver {
  fileprivate var place: ObserverPlace { ObserverPlace(eventQueue) }
}
