internal import ProcedurePrimitives

/// Runs `operation` as a task that is cancelled when `token` is, or when the current task is, and
/// waits for it.
///
/// It lets a token end one awaiting part of a task:
///
/// ```swift
/// let data = try await withTask(cancelledBy: button.token) {
///   try await client.load(url)
/// }
/// ```
///
/// `operation` sees a cancel of either, as in any task, before that `cancel()` returns. The call
/// waits for `operation`, and returns its value or throws its error: after a cancel usually a
/// `CancellationError`. If the token was cancelled before, the task starts cancelled and still
/// runs. Cancelling the token does not cancel the current task, and nothing is left on the token
/// afterwards. With `.never` the current task's cancel still reaches `operation`: see
/// `withCancellationShield` for work that no cancel must end.
///
/// - Parameters:
///   - token: cancels the task, as the current task does.
///   - operation: runs where it was formed, with the task-local values and the priority of the
///     current task, as in `Task.init`. It has ended when this returns.
/// - Returns: what `operation` returned.
public nonisolated(nonsending) func withTask<Success: Sendable>(
  cancelledBy token: CancellationToken,
  @_inheritActorContext @_implicitSelfCapture
  _ operation: sending @escaping @isolated(any) () async throws -> Success
) async throws -> Success {
  let place = TokenPlace()
  let start = TaskStart(operation, at: place)
  return try await withCancellationToken { current in
    let task = start.task(priority: nil)
    // Registered before the task begins: its waits then count as waits of the procedure body that
    // awaits it.
    BodyTask.current?.await(task, endedBy: token.identity)
    place.note(task, on: token || current)
    return try await task.value
  }
}
