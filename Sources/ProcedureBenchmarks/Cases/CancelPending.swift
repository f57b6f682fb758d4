import Foundation
import Procedures
import Synchronization

extension Contest {
  /// A hundred thousand wait, and are cancelled: from the first cancel until all have finished. None
  /// of them executes.
  static let cancelPending = Contest(
    name: "cancel, pending", count: 100_000,
    entries: [
      .timed("procedure, cancel of each", tally: 0) { count in
        await cancelPendingProcedures(count) { _, procedures in
          for procedure in procedures { procedure.cancel() }
        }
      },
      .timed("procedure, cancelAll", tally: 0) { count in
        await cancelPendingProcedures(count) { queue, _ in queue.cancelAll() }
      },
      Entry("procedure that runs, to compare") { count in
        await OwnQueue.run(count) { NoOperation() }
      },
      .timed("DispatchWorkItem, cancel, resume", .dispatch, tally: 0) { count in
        let queue = BareDispatch.concurrentQueue()
        queue.suspend()
        let items = (0..<count).map { _ in DispatchWorkItem { Tally.note() } }
        for item in items { queue.async(execute: item) }
        return await ContinuousClock().measure {
          for item in items { item.cancel() }
          queue.resume()
          await BareDispatch.drained(queue)
        }
      },
      .timed("task that waits", .tasks, share: 4) { count in
        let parking = Parking()
        let task = Task.detached {
          await withDiscardingTaskGroup { group in
            for _ in 0..<count {
              group.addTask {
                await parking.wait()
                Tally.note()
              }
            }
          }
        }
        await parking.filled(with: count)
        return await ContinuousClock().measure {
          task.cancel()
          await task.value
        }
      },
      .timed("operation, cancelAllOperations, resume", .operations, share: 10, tally: 0) { count in
        let queue = OperationQueue()
        queue.isSuspended = true
        for _ in 0..<count { queue.addOperation(BlockOperation { Tally.note() }) }
        return await ContinuousClock().measure {
          queue.cancelAllOperations()
          queue.isSuspended = false
          await Operations.drained(queue)
        }
      },
    ])

  private static func cancelPendingProcedures(
    _ count: Int, _ cancel: (ProcedureQueue, [Procedure]) -> Void
  ) async -> Duration {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let procedures = (0..<count).map { _ in NoOperation() }
    queue.add(procedures)
    let duration = await ContinuousClock().measure {
      cancel(queue, procedures)
      await queue.waitUntilAllFinished()
    }
    expect(procedures.allSatisfy { $0.isFinished && $0.isCancelled }, "not all were cancelled")
    return duration
  }
}
