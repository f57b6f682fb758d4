/// An object on the main actor that receives the events of a procedure, such as a view model.
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
/// A type on the main actor cannot conform to `ProcedureObserver`, since workers call its methods;
/// this protocol has the same ones. Implement the events that you want. The procedure's turn waits
/// for each call without blocking a thread. The main actor must be free for it: a main thread that
/// blocks until the procedure has finished waits forever.
@MainActor public protocol MainActorProcedureObserver: Sendable {
  /// The events to receive; by default all. Read once, when the observer is added.
  nonisolated var events: ProcedureEvents { get }

  /// The observer was attached. This is its first event.
  func didAttach(to procedure: Procedure)

  /// `execute()` is about to be called. Keep `pendingExecute` to hold the event back.
  func will(execute procedure: Procedure, pendingExecute: PendingEvent)

  /// `execute()` has returned. The work may go on asynchronously.
  func did(execute procedure: Procedure)

  /// The procedure was cancelled with these errors.
  func did(cancel procedure: Procedure, withErrors errors: [any Error])

  /// The procedure is about to add `newProcedure` to its queue, or as a child.
  func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure)

  /// The procedure has added `newProcedure`, which may run by now, or have finished.
  func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure)

  /// The procedure is about to finish with these errors. Keep `pendingFinish` to hold the event
  /// back.
  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent)

  /// The procedure has finished. Dependents start after all observers have returned.
  func did(finish procedure: Procedure, withErrors errors: [any Error])
}

extension MainActorProcedureObserver {
  /// All events.
  public nonisolated var events: ProcedureEvents { .all }

  /// Does nothing.
  public func didAttach(to procedure: Procedure) {}

  /// Does nothing.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {}

  /// Does nothing.
  public func did(execute procedure: Procedure) {}

  /// Does nothing.
  public func did(cancel procedure: Procedure, withErrors errors: [any Error]) {}

  /// Does nothing.
  public func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {}

  /// Does nothing.
  public func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {}

  /// Does nothing.
  public func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {}

  /// Does nothing.
  public func did(finish procedure: Procedure, withErrors errors: [any Error]) {}
}

extension Procedure {
  /// Adds an observer that is called on the main actor. You may add it at any time. See
  /// `add(observer:)`.
  ///
  /// The procedure retains it until it has finished, or the registration is removed.
  ///
  /// - Returns: the registration, which can remove the observer. You may drop it.
  @discardableResult
  public final func add(observer: some MainActorProcedureObserver) -> ObserverRegistration {
    add(ProcedureObserverEntry(OnMainActor(observer: observer), at: .mainActor))
  }
}

/// Wraps an observer on the main actor, and calls it there.
private struct OnMainActor<Observer: MainActorProcedureObserver>: ProcedureObserver {
  let observer: Observer

  var events: ProcedureEvents { observer.events }

  func didAttach(to procedure: Procedure) {
    MainActor.assumeIsolated { observer.didAttach(to: procedure) }
  }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    MainActor.assumeIsolated { observer.will(execute: procedure, pendingExecute: pendingExecute) }
  }

  func did(execute procedure: Procedure) {
    MainActor.assumeIsolated { observer.did(execute: procedure) }
  }

  func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    MainActor.assumeIsolated { observer.did(cancel: procedure, withErrors: errors) }
  }

  func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {
    MainActor.assumeIsolated { observer.procedure(procedure, willAdd: newProcedure) }
  }

  func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {
    MainActor.assumeIsolated { observer.procedure(procedure, didAdd: newProcedure) }
  }

  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    MainActor.assumeIsolated {
      observer.will(finish: procedure, withErrors: errors, pendingFinish: pendingFinish)
    }
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    MainActor.assumeIsolated { observer.did(finish: procedure, withErrors: errors) }
  }
}
