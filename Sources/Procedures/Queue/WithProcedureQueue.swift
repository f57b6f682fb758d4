public import Dispatch

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
  clock: ProcedureClock = .continuous,
  _ body: nonisolated(nonsending) (ProcedureQueue) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let queue = ProcedureQueue(
    name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount,
    qualityOfService: qualityOfService, underlyingQueue: underlyingQueue, clock: clock)
  return try await withStructure(of: queue, body)
}

/// Runs `body`; when this returns, nothing that was added to `queue` is left.
nonisolated(nonsending) func withStructure<Result, Failure: Error>(
  of queue: ProcedureQueue,
  _ body: nonisolated(nonsending) (ProcedureQueue) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let result = await withTaskCancellationHandler { () -> Swift.Result<Result, Failure> in
    do throws(Failure) {
      let result = try await body(queue)
      await queue.waitUntilAllFinishedRegardless()
      return .success(result)
    } catch {
      queue.cancelForGood(because: .requested)
      await queue.waitUntilAllFinishedRegardless()
      return .failure(error)
    }
  } onCancel: {
    queue.cancelForGood(because: .taskCancelled)
  }
  return try result.get()
}

extension ProcedureQueue {
  /// Cancels everything, now and whatever is added from here on.
  func cancelForGood(because reason: CancellationReason) {
    Procedure.cancel(list, errors: [], reason: reason)
  }

  /// Waits also when the waiting task is cancelled.
  fileprivate nonisolated(nonsending) func waitUntilAllFinishedRegardless() async {
    if count > 0 { await Task { await waitUntilAllFinished() }.value }
  }
}
