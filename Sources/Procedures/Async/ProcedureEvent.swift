internal import ProcedurePrimitives

/// An event of a procedure: an element of `events`.
public enum ProcedureEvent: Sendable {
  /// `execute()` is about to be called.
  case willExecute
  /// `execute()` has returned; the work may go on.
  case didExecute
  /// The procedure was cancelled, with these errors.
  case didCancel([any Error])
  /// The procedure is about to add another one to its queue, or as a child.
  case willAdd(Procedure)
  /// The procedure has added another one.
  case didAdd(Procedure)
  /// The procedure is about to finish, with these errors.
  case willFinish([any Error])
  /// The procedure has finished, with these errors. This is the last event.
  case didFinish([any Error])
}

extension Procedure {
  /// The procedure's events from now on, ending with its finish.
  ///
  /// ```swift
  /// for await event in procedure.events {
  ///   if case .didCancel = event { print("stopping") }
  /// }
  /// ```
  ///
  /// Each use adds an observer, and returns a new sequence that begins at that moment. A cancel or
  /// a finish that has already happened is delivered all the same. The procedure does not wait for
  /// the reader: unread events are kept, without a limit, and may be old when they are read. As
  /// with every observer of added procedures, later children of a group start after it has been
  /// called for them. The sequence ends when the procedure has finished or is deallocated, and when
  /// the reading task is cancelled.
  public final var events: ProcedureEventSequence {
    let (stream, continuation) = AsyncStream.makeStream(of: ProcedureEvent.self)
    let feed = EventFeed(continuation)
    let observer = BlockObserver(
      willExecute: { _, _ in feed.send(.willExecute) },
      didExecute: { _ in feed.send(.didExecute) },
      didCancel: { _, errors in feed.send(.didCancel(errors)) },
      willAdd: { _, added in feed.send(.willAdd(added)) },
      didAdd: { _, added in feed.send(.didAdd(added)) },
      willFinish: { _, errors, _ in feed.send(.willFinish(errors)) },
      didFinish: { _, errors in feed.send(.didFinish(errors)) })
    let entry = add(observer: observer).entry
    // A weak reference avoids a cycle: the entry holds the feed, which holds the continuation.
    continuation.onTermination = { [weak entry] _ in _ = entry?.remove() }
    return ProcedureEventSequence(stream: stream, procedure: Weak(self), unread: feed.unread)
  }
}

/// The events of one procedure, in order: see `Procedure.events`.
///
/// One task at a time may read it. It does not retain the procedure.
public struct ProcedureEventSequence: AsyncSequence, Sendable {
  /// The sequence never throws.
  public typealias Failure = Never

  fileprivate let stream: AsyncStream<ProcedureEvent>
  fileprivate let procedure: Weak<Procedure>
  fileprivate let unread: UnreadEvents

  /// Starts to read.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(events: stream.makeAsyncIterator(), procedure: procedure, unread: unread)
  }

  /// Reads one event after another.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var events: AsyncStream<ProcedureEvent>.Iterator
    fileprivate let procedure: Weak<Procedure>
    fileprivate let unread: UnreadEvents

    /// The next event; nil at the end, or when the reading task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ProcedureEvent? {
      let call = BodyTask.current.beginWaiting(
        in: WaitingCall(name: "events", target: .next(of: procedure)) { [unread] in unread.isEmpty }
      )
      defer { call?.end() }
      let event = await events.next(isolation: actor)
      if event != nil { unread.noteRead() }
      return event
    }
  }
}

/// Ends the stream when the procedure releases its observer, at the latest after the finish.
private final class EventFeed: Sendable {
  private let continuation: AsyncStream<ProcedureEvent>.Continuation
  let unread = UnreadEvents()

  init(_ continuation: AsyncStream<ProcedureEvent>.Continuation) {
    self.continuation = continuation
  }

  func send(_ event: ProcedureEvent) {
    unread.noteAdded()
    continuation.yield(event)
  }

  deinit { continuation.finish() }
}

private final class UnreadEvents: Sendable {
  private let count = Locked(0)

  var isEmpty: Bool { count.withLock { $0 <= 0 } }

  func noteAdded() { count.withLock { $0 += 1 } }

  func noteRead() { count.withLock { $0 -= 1 } }
}
