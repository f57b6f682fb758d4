internal import ProcedurePrimitives

/// Runs `operation`, and `handler` if `token` is cancelled meanwhile; returns when both have ended.
///
/// The handler is called at most once: by the thread that cancels, or by this one, before the
/// operation, if the token already is cancelled. After this returns it is not running and never
/// will: you may tear down the values that it uses. If it still runs when the operation ends, the task is
/// suspended until it has returned; no thread is blocked. A handler may be what makes the operation
/// end; it must not wait for this call to return.
///
/// ```swift
/// try await withCancellationHandler(for: token) {
///   try await connection.receive()
/// } onCancel: {
///   connection.close()
/// }
/// ```
///
/// `operation` runs where the caller does, and its error comes out with its type.
public nonisolated(nonsending) func withCancellationHandler<Result, Failure: Error>(
  for token: CancellationToken,
  operation: nonisolated(nonsending) () async throws(Failure) -> Result,
  onCancel handler: @escaping @Sendable () -> Void
) async throws(Failure) -> Result {
  if case .notCancelled = token.seen { return try await operation() }
  let scope = HandlerScope()
  let registration = token.onComplete { cancelled in
    if cancelled { handler() }
    scope.handlerHasEnded()
  }
  do throws(Failure) {
    let result = try await operation()
    if !registration.unregister() { await scope.waitForHandler() }
    return result
  } catch {
    if !registration.unregister() { await scope.waitForHandler() }
    throw error
  }
}

/// Lets a scope wait for a handler that could not be taken back.
private final class HandlerScope: Sendable {
  private struct State: Sendable {
    var handlerHasEnded = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func handlerHasEnded() {
    let waiting = state.withLock { state in
      state.handlerHasEnded = true
      return state.waiting.take()
    }
    waiting?.resume()
  }

  func waitForHandler() async {
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        if !state.handlerHasEnded { state.waiting = continuation }
        return state.handlerHasEnded
      }
      if hasEnded { continuation.resume() }
    }
  }
}
