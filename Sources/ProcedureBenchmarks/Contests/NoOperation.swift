import Foundation
import Procedures

/// The base cost of a procedure: made, added, executed, finished, released.
extension Contest {
  static let noOperation = Contest(
    name: "no-op", ceiling: 0.8, aim: 0.5,
    ours: noOperations,
    theirs: Side("block of Dispatch") { count in
      await DispatchWork.run(count) { Tally.note() }
    })

  static let noOperationBesideTask = Contest(
    name: "no-op, beside a task",
    ours: noOperations,
    theirs: Side("task of a task group") { count in
      await withDiscardingTaskGroup { group in
        for _ in 0..<count { group.addTask { Tally.note() } }
      }
    })

  static let noOperationBesideOperation = Contest(
    name: "no-op, beside an operation",
    ours: noOperations,
    theirs: Side("operation of an OperationQueue", items: 10_000) { count in
      let queue = OperationQueue()
      for _ in 0..<count { queue.addOperation { Tally.note() } }
      await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
    })

  /// Procedures are added one by one, while earlier ones run.
  static let noOperations = Side("no-op procedure") { count in
    await ProcedureWork.run(count) { NoOperation() }
  }
}
