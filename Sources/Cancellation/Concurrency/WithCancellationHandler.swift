internal import Dispatch
internal import ProcedurePrimitives

/// Runs `operation`, and `handler` if `token` is cancelled meanwhile; returns when both have ended.
///
/// The handler is called at most once: by the thread that cancels, or by this one, before the
/// operation, if the token already is cancelled. After this returns it is not running and never
/// will: you may tear down the values that it uses. If it still runs when the operation ends, the
/// task is suspended until it has returned; no thread is blocked. A handler may be what makes the
/// operation end; it must not wait for this call to return.
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
    if !registration.remove() { await scope.waitForHandler() }
    return result
  } catch {
    if !registration.remove() { await scope.waitForHandler() }
    throw error
  }
}

/// Runs `operation`, which blocks, and `handler` if `token` is cancelled meanwhile; returns when
/// both have ended.
///
/// `withCancellationHandler(for:)` for code that is not async. After this returns the handler is
/// not running and never will: you may close, free or reuse its resources.
///
/// ```swift
/// try withBlockingCancellationHandler(for: token) {
///   try socket.readToEnd()  // returns early when the socket is shut down
/// } onCancel: {
///   socket.shutDown()
/// }
/// socket.close()
/// ```
///
/// The handler is called at most once: by the thread that cancels, or by this one, before the
/// operation, if the token already is cancelled. If another thread still runs it when the operation
/// ends, this call blocks until it has returned. A cancel inside the operation runs the handler
/// right there, without a wait. The handler must not wait for this call to return.
@available(*, noasync, message: "it blocks a thread: await withCancellationHandler(for:)")
public func withBlockingCancellationHandler<Result, Failure: Error>(
  for token: CancellationToken,
  operation: () throws(Failure) -> Result,
  onCancel handler: @escaping @Sendable () -> Void
) throws(Failure) -> Result {
  if case .notCancelled = token.seen { return try operation() }
  let hasEnded = DispatchSemaphore(value: 0)
  let registration = token.onComplete { cancelled in
    if cancelled { handler() }
    hasEnded.signal()
  }
  // It could not be removed: it has run on this thread, or runs on another one, or has run there.
  defer { if !registration.remove() { hasEnded.wait() } }
  return try operation()
}

/// Lets a scope wait for a handler that could not be unregistered.
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
