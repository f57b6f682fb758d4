import Foundation
import Procedures

private let threads = 4

extension Contest {
  /// The same, added by four threads at once to one queue.
  static let noOperationThreads = Contest(
    name: "no-op, from 4 threads", count: 20_000,
    entries: [
      Entry("procedure") { count in
        let queue = ProcedureQueue()
        await Producers.run(threads: threads) { _ in
          for _ in 0..<count / threads { queue.add(NoOperation()) }
        }
        await queue.waitUntilAllFinished()
      },
      Entry("DispatchQueue.global().async", .dispatch) { count in
        let group = DispatchGroup()
        let queue = DispatchQueue.global()
        await Producers.run(threads: threads) { _ in
          for _ in 0..<count / threads {
            group.enter()
            queue.async {
              Tally.note()
              group.leave()
            }
          }
        }
        await BareDispatch.finished(group)
      },
      Entry("DispatchQueue.async, concurrent queue", .dispatch) { count in
        let queue = BareDispatch.concurrentQueue()
        await Producers.run(threads: threads) { _ in
          for _ in 0..<count / threads { queue.async { Tally.note() } }
        }
        await BareDispatch.drained(queue)
      },
      Entry("task of one of four task groups", .tasks, share: 4) { count in
        await withDiscardingTaskGroup { group in
          for _ in 0..<threads {
            group.addTask { await Tasks.run(count / threads) { Tally.note() } }
          }
        }
      },
      Entry("operation", .operations, share: 10) { count in
        let queue = OperationQueue()
        await Producers.run(threads: threads) { _ in
          for _ in 0..<count / threads { queue.addOperation(BlockOperation { Tally.note() }) }
        }
        await Operations.drained(queue)
      },
    ])
}
