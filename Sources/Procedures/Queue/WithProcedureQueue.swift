public import Dispatch
internal import ProcedurePrimitives

/// Runs `body` with a queue, and returns when all procedures that were added to it have finished.
///
/// ```swift
/// let total = try await withProcedureQueue(maxConcurrentProcedureCount: 4) { queue in
///   for file in files { queue.add(Compress(file)) }
///   return files.count
/// }
/// // here nothing of it runs any more
/// ```
///
/// When `body` throws, or the task is cancelled, unfinished procedures are cancelled, and so are
/// procedures added later; the call still waits for them. A failed procedure neither throws nor
/// cancels the others: read its `outcome`, or await its `value` in `body`.
///
/// When `body` has returned or thrown, a suspended queue is resumed, like one that you release: the
/// call waits for its procedures. Cancel them if they should not run.
///
/// `body` runs on the caller's actor, and its error is rethrown with its type. The parameters are
/// those of `ProcedureQueue`. In a procedure of a simulation, the queue is one of the simulation,
/// with its clock.
///
/// - Returns: the result of `body`.
@discardableResult
public nonisolated(nonsending) func withProcedureQueue<Result, Failure: Error>(
  name: String? = nil, maxConcurrentProcedureCount: Int = .max,
  qualityOfService: DispatchQoS.QoSClass = .default, underlyingQueue: DispatchQueue? = nil,
  clock: TimerClock = .continuous,
  _ body: nonisolated(nonsending) (ProcedureQueue) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let queue =
    if let simulated = SchedulingContext.replacement {
      ProcedureQueue(
        name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount,
        qualityOfService: qualityOfService, scheduler: simulated.scheduler, clock: simulated.clock)
    } else {
      ProcedureQueue(
        name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount,
        qualityOfService: qualityOfService, underlyingQueue: underlyingQueue, clock: clock)
    }
  let result = await withTaskCancellationHandler { () -> Swift.Result<Result, Failure> in
    // 1. An error of the body ends the procedures. Members and later additions are cancelled.
    let result: Swift.Result<Result, Failure>
    do throws(Failure) {
      result = .success(try await body(queue))
    } catch {
      Procedure.cancel(queue.list, errors: [], reason: .requested)
      result = .failure(error)
    }
    // 2. The body was the owner of the queue: nobody else is expected to resume it.
    if queue.isSuspended { queue.isSuspended = false }
    // 3. Wait in another task, which this one's cancel does not end, but record it as this one's
    //    wait.
    if queue.count > 0 {
      let body = BodyTask.current
      await Task(executorPreference: HelperExecutor.current) {
        _ = await queue.list.waitUntilEmpty(as: body, in: "withProcedureQueue")
      }.value
    }
    return result
  } onCancel: {
    Procedure.cancel(queue.list, errors: [], reason: .taskCancelled)
  }
  return try result.get()
}
