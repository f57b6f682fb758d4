import Foundation
import Procedures

extension Contest {
  /// A closure instead of a subclass.
  static let block = Contest(
    name: "block", count: 50_000,
    entries: [
      Entry("BlockProcedure") { count in
        await OwnQueue.run(count) { BlockProcedure { Tally.note() } }
      },
      Entry("procedure") { count in await OwnQueue.run(count) { NoOperation() } },
      Entry("DispatchWorkItem", .dispatch) { count in
        let queue = BareDispatch.concurrentQueue()
        for _ in 0..<count { queue.async(execute: DispatchWorkItem { Tally.note() }) }
        await BareDispatch.drained(queue)
      },
      Entry("task", .tasks, share: 4) { count in
        let tasks = (0..<count).map { _ in Task.detached { Tally.note() } }
        for task in tasks { await task.value }
      },
      Entry("BlockOperation", .operations, share: 10) { count in
        await Operations.run(count) { BlockOperation { Tally.note() } }
      },
    ])
}
