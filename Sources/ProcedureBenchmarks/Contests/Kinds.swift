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

  /// A group of five, beside five blocks and a block that follows them.
  static let group = Contest(
    name: "group of five", ceiling: 1.2, aim: 1,
    ours: Side("group of five no-ops", items: 10_000, tally: 5) { count in
      await ProcedureWork.run(count) {
        GroupProcedure(children: (0..<5).map { _ in NoOperation() })
      }
    },
    theirs: Side("Dispatch group of five blocks", items: 10_000, tally: 5) { count in
      await DispatchWork.runGroups(count, of: 5) { Tally.note() }
    })

  /// All procedures are of one category. The alternative is a task for each, which calls an actor.
  static let exclusive = Contest(
    name: "exclusion", ceiling: 1,
    ours: Side("no-op that excludes the others", items: 20_000) { count in
      await ProcedureWork.run(count) {
        let procedure = NoOperation()
        procedure.add(condition: MutuallyExclusive<Contest>())
        return procedure
      }
    },
    theirs: Side("task that calls an actor", items: 20_000) { count in
      let visited = Visited()
      await withDiscardingTaskGroup { group in
        for _ in 0..<count { group.addTask { await visited.note() } }
      }
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
