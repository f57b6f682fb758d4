internal import ProcedurePrimitives

/// Runs `operation` as a task that is cancelled when `token` is, or when the current task is, and waits
/// for it.
///
/// The way to have a token end a part of a task that awaits:
///
/// ```swift
/// let data = try await withTask(cancelledBy: button.token) {
///   try await client.load(url)
/// }
/// ```
///
/// A cancel of either is seen by `operation`, as in any task, before that `cancel()` returns. The
/// call waits for `operation`, and returns or throws as that does: after a cancel usually a
/// `CancellationError`. If a token was cancelled before, the task starts cancelled, and runs
/// nonetheless. Cancelling the token does not cancel the current task, and nothing is left on the
/// token afterwards. With `.never` the current task's cancel still reaches `operation`: see
/// `withCancellationShield` for work that no cancel must end.
///
/// - Parameters:
///   - token: cancels the task, as the current task does.
///   - operation: runs where it was formed, with the task-local values and the priority of the current
///     task, as in `Task.init`. It has ended when this returns.
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
    // Before it begins: what it waits in, the body of a procedure that awaits it does.
    BodyTask.current?.await(task, endedBy: token.identity)
    place.note(task, on: token || current)
    return try await task.value
  }
}
