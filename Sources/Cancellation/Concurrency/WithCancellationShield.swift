internal import ProcedurePrimitives

/// Runs `operation` so that no cancel of the current task reaches it, and waits for it.
///
/// Use it for work that a cancel must not end halfway: cleaning up, saving, notifying a server.
/// Inside, `Task.isCancelled` is false and `Task.sleep` sleeps, even if the current task is
/// cancelled before or meanwhile. The call returns when `operation` has ended, and throws its
/// error.
///
/// ```swift
/// let upload = AsyncProcedure {
///   do {
///     try await send(parts)
///   } catch {
///     await withCancellationShield { await server.discard(parts) }  // even after a cancel
///     throw error
///   }
/// }
/// ```
///
/// Tokens still work inside: a call that takes one is cancelled by it, so pass `.never`. Limit work
/// that may hang with a token of its own: `withTask(cancelledBy: .timeout(.seconds(5)))` inside.
///
/// - Parameter operation: runs where it was formed, as a task of its own with the task-local values
///   and the priority of the current task, as in `Task.init`. It has ended when this returns.
/// - Returns: what `operation` returned.
public nonisolated(nonsending) func withCancellationShield<Success: Sendable, Failure: Error>(
  @_inheritActorContext @_implicitSelfCapture
  _ operation: sending @escaping @isolated(any) () async throws(Failure) -> Success
) async throws(Failure) -> Success {
  let body = BodyTask.current
  let task = Task(executorPreference: HelperExecutor.current) {
    () async -> Result<Success, Failure> in
    BodyTask.beginStandingIn(for: body, endedBy: nil)
    defer { BodyTask.endStandingIn() }
    do throws(Failure) {
      return .success(try await operation())
    } catch {
      return .failure(error)
    }
  }
  // An unstructured task is not cancelled with the current one, and waiting for its value does not
  // end with a cancel.
  return try await task.value.get()
}
