internal import ProcedurePrimitives

/// An event of a procedure: an element of `events`.
public enum ProcedureEvent: Sendable {
  /// `execute()` is about to be called.
  case willExecute
  /// `execute()` has returned; the work may go on.
  case didExecute
  /// It was cancelled, with these errors.
  case didCancel([any Error])
  /// It is about to add this procedure to its queue, or as a child.
  case willAdd(Procedure)
  /// It has added this procedure.
  case didAdd(Procedure)
  /// It is about to finish, with these errors.
  case willFinish([any Error])
  /// It has finished, with these errors. The last one.
  case didFinish([any Error])
}

extension Procedure {
  /// The procedure's events from here on, ending with its finish.
  ///
  /// ```swift
  /// for await event in procedure.events {
  ///   if case .didCancel = event { print("stopping") }
  /// }
  /// ```
  ///
  /// Each use is a sequence, and an observer, of its own, from the moment on at which it is made; a
  /// cancel or finish that has happened already is delivered all the same. The procedure does not
  /// wait for the reader, so events may be history when they are read; they are kept until then. As
  /// with any observer of added procedures, children that are added to a group later start when its
  /// observers have been called for them. It ends when the procedure has finished, when the
  /// procedure goes, and when the reading task is cancelled.
  public final var events: AsyncStream<ProcedureEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ProcedureEvent.self)
    let entry = add(observer: EventFeed(continuation)).entry
    // Weakly: the entry holds the feed, and that the continuation.
    continuation.onTermination = { [weak entry] _ in _ = entry?.remove() }
    return stream
  }
}

/// Passes events on; ends the stream when the procedure releases it.
private final class EventFeed: ProcedureObserver {
  private let continuation: AsyncStream<ProcedureEvent>.Continuation

  init(_ continuation: AsyncStream<ProcedureEvent>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }

  var events: ProcedureEvents { ProcedureEvents.all.subtracting(.didAttach) }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    continuation.yield(.willExecute)
  }

  func did(execute procedure: Procedure) {
    continuation.yield(.didExecute)
  }

  func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    continuation.yield(.didCancel(errors))
  }

  func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {
    continuation.yield(.willAdd(newProcedure))
  }

  func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {
    continuation.yield(.didAdd(newProcedure))
  }

  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    continuation.yield(.willFinish(errors))
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    continuation.yield(.didFinish(errors))
    continuation.finish()
  }
}
