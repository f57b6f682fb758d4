internal import ProcedurePrimitives

extension CancellationToken {
  /// Waits until the token has completed.
  ///
  /// If the awaiting task is cancelled first, the wait ends at once, leaves no handler on the
  /// token, and does not cancel it. It does not suspend on a completed token. Any number of tasks
  /// may wait.
  ///
  /// ```swift
  /// if await token.waitUntilCancelled() { print("cancelled") } else { print("never will be") }
  /// ```
  ///
  /// - Returns: true if the token was cancelled; false if it will never be, or if the awaiting task
  ///   was cancelled first. In `withCancellationToken`, a cancel of the task is also one of the
  ///   token: there ask `token.isCancelled` afterwards.
  @discardableResult
  public func waitUntilCancelled() async -> Bool {
    guard let state, !state.isSettled else { return isCancelled }
    let waiter = CancellationWaiter()
    let call = BodyTask.current.begin(TokenWait(state))
    defer { call?.end() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiter.begin(continuation)
        waiter.note(state.registration(of: .complete { waiter.end($0) }))
      }
    } onCancel: {
      waiter.end(false)
    }
  }
}

extension CancellationToken {
  /// The identity of the state that a token shares with its source; nil for `.never`.
  package var identity: ObjectIdentifier? { state.map { ObjectIdentifier($0) } }
}

/// The wait for a token in the body of a procedure, as reports show it.
private struct TokenWait: BodyWait {
  let name = "waitUntilCancelled() of a token"
  let serial = BodyTask.nextSerial()
  private let state: CancellationState

  init(_ state: CancellationState) { self.state = state }

  var token: ObjectIdentifier? { ObjectIdentifier(state) }
  var hasDeadline: Bool { state.nextDeadline() != nil }
  var isWaiting: Bool { !state.isSettled }
}

/// One task that waits for one token. The first thread that ends the wait resumes it.
///
/// The lock is never held while the continuation resumes: the task's cancellation handler runs
/// under a lock of the runtime, and acquires this one.
private final class CancellationWaiter: Sendable {
  private enum State: Sendable {
    case unbegun
    case waiting(CheckedContinuation<Bool, Never>, CancellationRegistration?)
    case ended(Bool)
  }

  private let state = Locked(State.unbegun)

  func begin(_ continuation: CheckedContinuation<Bool, Never>) {
    let ended: Bool? = state.withLock { state in
      if case .ended(let value) = state { return value }
      state = .waiting(continuation, nil)
      return nil
    }
    if let ended { continuation.resume(returning: ended) }
  }

  func note(_ registration: CancellationRegistration) {
    let isWaiting = state.withLock { state in
      guard case .waiting(let continuation, _) = state else { return false }
      state = .waiting(continuation, registration)
      return true
    }
    if !isWaiting { registration.remove() }
  }

  func end(_ value: Bool) {
    let waiting: (CheckedContinuation<Bool, Never>, CancellationRegistration?)? = state.withLock {
      state in
      switch state {
      case .unbegun:
        state = .ended(value)
        return nil
      case .waiting(let continuation, let registration):
        state = .ended(value)
        return (continuation, registration)
      case .ended: return nil
      }
    }
    guard let (continuation, registration) = waiting else { return }
    registration?.remove()
    continuation.resume(returning: value)
  }
}
