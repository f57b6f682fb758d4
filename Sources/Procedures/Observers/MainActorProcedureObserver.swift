/// Something on the main actor that receives the events of a procedure: a view model, for example.
///
/// ```swift
/// @MainActor final class UploadModel: MainActorProcedureObserver {
///   var status = ""
///   func did(finish procedure: Procedure, withErrors errors: [any Error]) {
///     status = errors.isEmpty ? "done" : "failed"
///   }
/// }
/// upload.add(observer: model)
/// ```
///
/// Like `ProcedureObserver`, to which a type on the main actor cannot conform, since its methods
/// are called on workers. Implement the events that you want. The procedure's turn waits for each
/// call by message and blocks no thread; the main actor must be free for it, so that a main thread
/// which blocks until the procedure has finished waits for ever.
@MainActor public protocol MainActorProcedureObserver: Sendable {
  /// The events to receive; all unless you say less. Asked once, when it is added.
  nonisolated var events: ProcedureEvents { get }

  /// It was attached: delivered in the procedure's next turn, before any other event.
  func didAttach(to procedure: Procedure)

  /// `execute()` is about to be called. If you cancel or finish the procedure here, it is not
  /// called.
  ///
  /// - Parameters:
  ///   - procedure: the one that is about to execute.
  ///   - pendingExecute: keep it to hold the event back; release it to let the event go on.
  func will(execute procedure: Procedure, pendingExecute: PendingEvent)

  /// `execute()` has returned. The work may go on asynchronously.
  func did(execute procedure: Procedure)

  /// The procedure was cancelled with these errors.
  func did(cancel procedure: Procedure, withErrors errors: [any Error])

  /// The procedure is about to add `newProcedure` to its queue, or as a child.
  func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure)

  /// The procedure has added `newProcedure`.
  ///
  /// By then it may run, or have finished: what it needs before it starts belongs to will-add.
  func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure)

  /// The procedure is about to finish with these errors, which no longer change.
  ///
  /// - Parameters:
  ///   - procedure: the one that is about to finish.
  ///   - errors: all errors.
  ///   - pendingFinish: keep it to hold the event back; release it to let the event go on.
  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent)

  /// The procedure has finished. Dependents start after all observers have returned.
  func did(finish procedure: Procedure, withErrors errors: [any Error])
}

extension MainActorProcedureObserver {
  /// All events.
  public nonisolated var events: ProcedureEvents { .all }

  /// The default for an observer that does not need this event.
  public func didAttach(to procedure: Procedure) {}

  /// The default for an observer that does not need this event.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {}

  /// The default for an observer that does not need this event.
  public func did(execute procedure: Procedure) {}

  /// The default for an observer that does not need this event.
  public func did(cancel procedure: Procedure, withErrors errors: [any Error]) {}

  /// The default for an observer that does not need this event.
  public func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {}

  /// The default for an observer that does not need this event.
  public func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {}

  /// The default for an observer that does not need this event.
  public func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {}

  /// The default for an observer that does not need this event.
  public func did(finish procedure: Procedure, withErrors errors: [any Error]) {}
}

extension Procedure {
  /// Adds an observer that is called on the main actor, at any time. See `add(observer:)`.
  ///
  /// It is kept alive until the procedure has finished, or the registration is removed.
  ///
  /// - Returns: what takes it off again. May be dropped.
  @discardableResult
  public final func add(observer: some MainActorProcedureObserver) -> ObserverRegistration {
    add(MainActorObserverEntry(observer))
  }
}

/// The place of an observer on the main actor.
private final class MainActorObserverEntry<Observer: MainActorProcedureObserver>: ObserverEntry,
  @unchecked Sendable
{
  @safe @exclusivity(unchecked) private var observer: Observer?

  init(_ observer: Observer) {
    self.observer = observer
    super.init(observer.events, at: .mainActor)
  }

  override func letGo() { observer = nil }

  override func tell(
    _ event: ProcedureEvents, of procedure: Procedure, adding added: Procedure?
  ) {
    guard let observer else { return }
    MainActor.assumeIsolated {
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
}
