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
    let feed = EventFeed(continuation)
    let observer = BlockObserver(
      willExecute: { _, _ in feed.continuation.yield(.willExecute) },
      didExecute: { _ in feed.continuation.yield(.didExecute) },
      didCancel: { _, errors in feed.continuation.yield(.didCancel(errors)) },
      willAdd: { _, added in feed.continuation.yield(.willAdd(added)) },
      didAdd: { _, added in feed.continuation.yield(.didAdd(added)) },
      willFinish: { _, errors, _ in feed.continuation.yield(.willFinish(errors)) },
      didFinish: { _, errors in feed.continuation.yield(.didFinish(errors)) })
    let entry = add(observer: observer).entry
    // Weakly: the entry holds the feed, and that the continuation.
    continuation.onTermination = { [weak entry] _ in _ = entry?.remove() }
    return stream
  }
}

/// Ends the stream when the procedure releases its observer, at the latest after the finish.
private final class EventFeed: Sendable {
  let continuation: AsyncStream<ProcedureEvent>.Continuation

  init(_ continuation: AsyncStream<ProcedureEvent>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}
