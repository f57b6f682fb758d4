internal import ProcedurePrimitives

/// Sequences that end when a token is cancelled.
extension AsyncSequence {
  /// The elements of this sequence until `token` is cancelled.
  ///
  /// When it is, a suspended `next()` returns nil at once, even if the base does not react, and the
  /// task that waits for the base is cancelled. A token that is already cancelled takes no element
  /// from the base. Elements, errors and the order are the base's.
  ///
  /// ```swift
  /// for try await line in url.lines.prefix(until: token) {
  ///   process(line)
  /// }
  /// ```
  ///
  /// While the token can still be cancelled each element costs a task, a few microseconds, since a
  /// base can be abandoned only from outside; with `.never` it costs nothing.
  public func prefix(until token: CancellationToken) -> AsyncPrefixUntilCancelled<Self> {
    AsyncPrefixUntilCancelled(base: self, token: token)
  }
}

/// The elements of a sequence until a token is cancelled. Made by `prefix(until:)`.
public struct AsyncPrefixUntilCancelled<Base: AsyncSequence>: AsyncSequence {
  /// The base's elements.
  public typealias Element = Base.Element
  /// The base's errors.
  public typealias Failure = Base.Failure

  let base: Base
  let token: CancellationToken

  /// Begins to iterate the base.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: base.makeAsyncIterator(), token: token)
  }

  /// Iterates the base until the token is cancelled.
  public struct Iterator: AsyncIteratorProtocol {
    /// The base's elements.
    public typealias Element = Base.Element
    /// The base's errors.
    public typealias Failure = Base.Failure

    private let iterator: AbandonableIterator<Base.AsyncIterator>
    private let token: CancellationToken
    private var hasEnded = false

    init(base: Base.AsyncIterator, token: CancellationToken) {
      iterator = AbandonableIterator(base)
      self.token = token
    }

    /// The next element; nil at the end of the base, and when the token is cancelled.
    public mutating func next() async throws(Failure) -> Element? {
      try await next(isolation: nil)
    }

    /// The next element. The base's `next` runs on `actor`.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      if hasEnded { return nil }
      let result: AbandonableIterator<Base.AsyncIterator>.Outcome?
      switch token.seen {
      case .cancelled: result = nil
      case .notCancelled: result = await iterator.next(isolation: actor)
      case .pending: result = await iterator.next(unless: token, isolation: actor)
      }
      // Nil: the token was cancelled. The base may still be busy with this element.
      guard let result, case .success(.some) = result else {
        hasEnded = true
        return try result?.get()
      }
      return try result.get()
    }
  }
}

extension AsyncPrefixUntilCancelled: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncPrefixUntilCancelled.Iterator: Sendable {}

/// A base iterator that one task at a time uses, and no task after it was abandoned.
///
/// Unchecked because its owner waits while the other task uses the iterator, or never uses it
/// again.
private final class AbandonableIterator<Base: AsyncIteratorProtocol>: @unchecked Sendable {
  typealias Outcome = Result<Base.Element?, Base.Failure>

  private var base: Base

  init(_ base: Base) { self.base = base }

  func next(isolation actor: isolated (any Actor)?) async -> Outcome? {
    do throws(Base.Failure) {
      return .success(try await base.next(isolation: actor))
    } catch {
      return .failure(error)
    }
  }

  /// Nil if the token was cancelled first.
  func next(unless token: CancellationToken, isolation actor: isolated (any Actor)?) async
    -> Outcome?
  {
    let turn = IteratorTurn<Outcome>()
    // After a cancel this returns, and the task may go on.
    let body = BodyTask.current?.inCallOfItsOwn()
    defer { body?.endCall() }
    let step: any AbandonableStep = IteratorStep(
      iterator: self, body: body, token: token, turn: turn)
    let task =
      if actor == nil, let executor = HelperExecutor.current {
        Task(executorPreference: executor) { await step.take(on: nil) }
      } else {
        Task { await step.take(on: actor) }
      }
    let registration = token.onCancel {
      turn.end(nil)
      task.cancel()
    }
    let outcome = await withTaskCancellationHandler {
      await turn.wait(isolation: actor)
    } onCancel: {
      task.cancel()
    }
    registration.remove()
    return outcome?.value
  }
}

/// The step of an iterator, as its task knows it: without its type, which a task may not capture.
private protocol AbandonableStep: Sendable {
  func take(on actor: isolated (any Actor)?) async
}

private struct IteratorStep<Base: AsyncIteratorProtocol>: AbandonableStep {
  typealias Iterator = AbandonableIterator<Base>

  let iterator: Iterator
  /// The body for which the task stands in.
  let body: BodyTask?
  let token: CancellationToken
  let turn: IteratorTurn<Iterator.Outcome>

  func take(on actor: isolated (any Actor)?) async {
    BodyTask.beginStandingIn(for: body, endedBy: token.identity)
    defer { BodyTask.endStandingIn() }
    guard let outcome = await iterator.next(isolation: actor) else { return }
    turn.end(Handover(value: outcome))
  }
}

/// A value that one task passes to another that waits for it. Unchecked: the giver keeps no copy.
private struct Handover<Value>: @unchecked Sendable {
  let value: Value
}

/// The wait for one element, which ends with the element or when the token is cancelled.
private final class IteratorTurn<Outcome>: Sendable {
  private enum State: Sendable {
    case unbegun
    case waiting(CheckedContinuation<Handover<Outcome>?, Never>)
    case ended(Handover<Outcome>?)
  }

  private let state = Locked(State.unbegun)

  func wait(isolation actor: isolated (any Actor)?) async -> Handover<Outcome>? {
    await withCheckedContinuation { continuation in
      let ended: Handover<Outcome>?? = state.withLock { state in
        if case .ended(let outcome) = state { return .some(outcome) }
        state = .waiting(continuation)
        return nil
      }
      if let ended { continuation.resume(returning: ended) }
    }
  }

  func end(_ outcome: Handover<Outcome>?) {
    let continuation: CheckedContinuation<Handover<Outcome>?, Never>? = state.withLock { state in
      switch state {
      case .unbegun:
        state = .ended(outcome)
        return nil
      case .waiting(let continuation):
        state = .ended(outcome)
        return continuation
      case .ended: return nil
      }
    }
    continuation?.resume(returning: outcome)
  }
}
