import Foundation
import Procedures

extension Contest {
  /// Many children of one parent, which is done when all of them are.
  static let group = Contest(
    name: "group", count: 100_000,
    entries: [
      Entry("child of a group") { count in
        _ = await ProcedureQueue().run(
          GroupProcedure(children: (0..<count).map { _ in NoOperation() }))
      },
      Entry("procedure") { count in await OwnQueue.run((0..<count).map { _ in NoOperation() }) },
      Entry("DispatchQueue.async(group:)", .dispatch) { count in
        let group = DispatchGroup()
        let queue = DispatchQueue.global()
        for _ in 0..<count { queue.async(group: group) { Tally.note() } }
        await BareDispatch.finished(group)
      },
      Entry("task of a task group", .tasks, share: 4) { count in
        await withTaskGroup { group in
          for _ in 0..<count { group.addTask { Tally.note() } }
        }
      },
      Entry("operation that another depends on", .operations, share: 10) { count in
        let last = Operation()
        let operations = (0..<count).map { _ in BlockOperation { Tally.note() } }
        for operation in operations { last.addDependency(operation) }
        await Operations.run(operations + [last])
      },
    ])
}
