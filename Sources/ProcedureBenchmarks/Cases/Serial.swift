import Foundation
import Procedures

private actor Desk {
  func note() { Tally.note() }
}

extension Contest {
  /// One at a time, by a limit of one.
  static let serial = Contest(
    name: "serial", count: 100_000,
    entries: [
      Entry("procedure, limit 1") { count in
        let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
        await OwnQueue.run(count, on: queue) { NoOperation() }
      },
      Entry("serial DispatchQueue.async", .dispatch) { count in
        await BareDispatch.run(count, on: BareDispatch.serialQueue()) { Tally.note() }
      },
      Entry("task that calls an actor", .tasks, share: 4) { count in
        let desk = Desk()
        await withDiscardingTaskGroup { group in
          for _ in 0..<count { group.addTask { await desk.note() } }
        }
      },
      Entry("operation, limit 1", .operations, share: 10) { count in
        await Operations.run(count, on: Operations.serialQueue()) {
          BlockOperation { Tally.note() }
        }
      },
    ])
}
