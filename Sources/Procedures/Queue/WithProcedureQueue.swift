public import Dispatch
internal import ProcedurePrimitives

/// Runs `body` with a queue, and returns when everything that was added to it has finished.
///
/// ```swift
/// let total = try await withProcedureQueue(maxConcurrentProcedureCount: 4) { queue in
///   for file in files { queue.add(Compress(file)) }
///   return files.count
/// }
/// // here nothing of it runs any more
/// ```
///
/// When `body` throws, or the task is cancelled, what has not finished is cancelled, and so is what
/// is added after that; it is still waited for. A failed procedure neither throws nor cancels the
/// others: look at its `outcome`, or await its `value` in `body`.
///
/// `body` runs where the caller does, and its error comes out with its type. The parameters are
/// those of `ProcedureQueue`.
///
/// - Returns: what `body` returned.
@discardableResult
public nonisolated(nonsending) func withProcedureQueue<Result, Failure: Error>(
  name: String? = nil, maxConcurrentProcedureCount: Int = .max,
  qualityOfService: DispatchQoS.QoSClass = .default, underlyingQueue: DispatchQueue? = nil,
  clock: TimerClock = .continuous,
  _ body: nonisolated(nonsending) (ProcedureQueue) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let queue = ProcedureQueue(
    name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount,
    qualityOfService: qualityOfService, underlyingQueue: underlyingQueue, clock: clock)
  let result = await withTaskCancellationHandler { () -> Swift.Result<Result, Failure> in
    let result: Swift.Result<Result, Failure>
    do throws(Failure) {
      result = .success(try await body(queue))
    } catch {
      Procedure.cancel(queue.list, errors: [], reason: .requested)
      result = .failure(error)
    }
    if queue.count > 0 {
      // In a task of its own, since the wait must outlast the cancel of this one, whose wait it is nonetheless.
      let body = BodyTask.current
      await Task { _ = await queue.list.waitUntilEmpty(as: body, in: "withProcedureQueue") }.value
    }
    return result
  } onCancel: {
    Procedure.cancel(queue.list, errors: [], reason: .taskCancelled)
  }
  return try result.get()
}
