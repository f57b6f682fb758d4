import Foundation
import Procedures

/// The costs of procedures that do more than a no-op.
extension Contest {
  /// Both sides make all their procedures before the first one runs.
  static let child = Contest(
    name: "child", ceiling: 1.2, aim: 1,
    ours: Side("child of a group") { count in await ProcedureWork.runGroup(count) },
    theirs: Side("no-op of a batch") { count in
      await ProcedureWork.run((0..<count).map { _ in NoOperation() })
    })

  static let observed = Contest(
    name: "observed", ceiling: 1.35, aim: 1.2,
    ours: Side("no-op with a DidFinish observer", tally: 2) { count in
      await ProcedureWork.run(count) {
        let procedure = NoOperation()
        procedure.addDidFinishBlockObserver { _, _ in Tally.note() }
        return procedure
      }
    },
    theirs: noOperations)

  static let asynchronous = Contest(
    name: "async", ceiling: 1.2,
    ours: Side("asynchronous procedure", items: 20_000) { count in
      await ProcedureWork.run(count) { AsyncProcedure { Tally.note() } }
    },
    theirs: Side("task of a task group", items: 20_000) { count in
      await withDiscardingTaskGroup { group in
        for _ in 0..<count { group.addTask { Tally.note() } }
      }
    })

  /// The time from the first cancel until all have finished; none of them executes.
  static let cancelled = Contest(
    name: "cancelled", ceiling: 1.5, aim: 1,
    ours: Side(timing: "cancel of a pending no-op", tally: 0) { count in
      let queue = ProcedureQueue()
      queue.isSuspended = true
      let procedures = (0..<count).map { _ in NoOperation() }
      queue.add(procedures)
      return await ContinuousClock().measure {
        for procedure in procedures { procedure.cancel() }
        await queue.waitUntilAllFinished()
      }
    },
    theirs: noOperations)
}
