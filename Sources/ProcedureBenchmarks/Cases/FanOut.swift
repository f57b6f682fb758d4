import Foundation
import Procedures

/// The first, those in between, and the last.
private let width = 1_000
private let nodes = width + 2

extension Contest {
  /// One, then a thousand, then one, a hundred times side by side.
  static let fanOut = Contest(
    name: "fan-out and fan-in", count: 100 * nodes,
    entries: [
      Entry("procedure") { count in
        let queue = ProcedureQueue()
        for _ in 0..<count / nodes {
          let (first, last) = (NoOperation(), NoOperation())
          let middle = (0..<width).map { _ in
            let procedure = NoOperation()
            procedure.add(dependency: first)
            last.add(dependency: procedure)
            return procedure
          }
          queue.add([first] + middle + [last])
        }
        await queue.waitUntilAllFinished()
      },
      Entry("DispatchGroup.notify", .dispatch) { count in
        let queue = DispatchQueue.global()
        let all = DispatchGroup()
        for _ in 0..<count / nodes {
          all.enter()
          queue.async {
            Tally.note()
            let middle = DispatchGroup()
            for _ in 0..<width { queue.async(group: middle) { Tally.note() } }
            middle.notify(queue: queue) {
              Tally.note()
              all.leave()
            }
          }
        }
        await BareDispatch.finished(all)
      },
      Entry("task group", .tasks, share: 5) { count in
        await withDiscardingTaskGroup { all in
          for _ in 0..<count / nodes {
            all.addTask {
              Tally.note()
              await Tasks.run(width) { Tally.note() }
              Tally.note()
            }
          }
        }
      },
      Entry("operation", .operations, share: 10) { count in
        let queue = OperationQueue()
        for _ in 0..<count / nodes {
          let first = BlockOperation { Tally.note() }
          let last = BlockOperation { Tally.note() }
          let middle = (0..<width).map { _ in
            let operation = BlockOperation { Tally.note() }
            operation.addDependency(first)
            last.addDependency(operation)
            return operation
          }
          for operation in [first] + middle + [last] { queue.addOperation(operation) }
        }
        await Operations.drained(queue)
      },
    ])
}
