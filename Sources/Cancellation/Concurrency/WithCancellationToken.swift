/// Runs `body` with a token that is cancelled when the current task is.
///
/// It connects a task to code that takes tokens. The task's cancel cancels the token, with the
/// reason `.taskCancelled`, before `Task.cancel()` returns. In a task that is already cancelled the
/// token is cancelled from the start, and the body still runs. When the body ends, the token
/// completes *not cancelled*: a token that escaped never fires.
///
/// ```swift
/// let data = try await withCancellationToken { token in
///   try await client.load(url, token: token)
/// }
/// ```
///
/// `body` runs where the caller does, and its error comes out with its type. Handlers on the token
/// run inside `Task.cancel()`, under a lock of the Swift runtime: they must not wait for this task.
public nonisolated(nonsending) func withCancellationToken<Result, Failure: Error>(
  _ body: nonisolated(nonsending) (CancellationToken) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let source = CancellationTokenSource()
  defer { source.complete() }
  let result = await withTaskCancellationHandler { () -> Swift.Result<Result, Failure> in
    do throws(Failure) {
      return .success(try await body(source.token))
    } catch {
      return .failure(error)
    }
  } onCancel: {
    source.cancel(.taskCancelled)
  }
  return try result.get()
}
