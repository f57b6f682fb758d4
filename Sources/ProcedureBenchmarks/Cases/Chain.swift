import Foundation
import Procedures

extension Contest {
  /// One after the other, by dependencies.
  static let chain = Contest(
    name: "chain", count: 100_000,
    entries: [
      Entry("procedure after procedure") { count in await Chain.runProcedures(count) },
      Entry("serial DispatchQueue.async", .dispatch) { count in
        await BareDispatch.run(count, on: BareDispatch.serialQueue()) { Tally.note() }
      },
      Entry("task that awaits the one before", .tasks, share: 4) { count in
        await Chain.runTasks(count)
      },
      Entry("operation after operation", .operations, share: 200) { count in
        await Chain.runOperations(count)
      },
    ])
}

/// Links of a chain, each made and added when the one before is already on its way.
enum Chain {
  static func runProcedures(_ count: Int) async {
    let queue = ProcedureQueue()
    var last: Procedure?
    for _ in 0..<count {
      let next = NoOperation()
      if let last { next.add(dependency: last) }
      queue.add(next)
      last = next
    }
    await queue.waitUntilAllFinished()
  }

  static func runTasks(_ count: Int) async {
    var last: Task<Void, Never>?
    for _ in 0..<count {
      last = Task.detached { [last] in
        await last?.value
        Tally.note()
      }
    }
    await last?.value
  }

  static func runOperations(_ count: Int) async {
    let queue = OperationQueue()
    var last: Operation?
    for _ in 0..<count {
      let next = BlockOperation { Tally.note() }
      if let last { next.addDependency(last) }
      queue.addOperation(next)
      last = next
    }
    await Operations.drained(queue)
  }
}
