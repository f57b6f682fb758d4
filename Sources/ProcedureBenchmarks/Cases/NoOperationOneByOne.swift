import Foundation
import Procedures

extension Contest {
  /// The cost of having something done at all: made, added, executed, finished, released.
  static let noOperation = Contest(
    name: "no-op, one by one", count: 100_000,
    entries: [
      Entry("procedure") { count in await OwnQueue.run(count) { NoOperation() } },
      Entry("DispatchQueue.global().async", .dispatch) { count in
        await BareDispatch.run(count) { Tally.note() }
      },
      Entry("DispatchQueue.async, concurrent queue", .dispatch) { count in
        await BareDispatch.run(count, on: BareDispatch.concurrentQueue()) { Tally.note() }
      },
      Entry("task of a task group", .tasks, share: 4) { count in
        await Tasks.run(count) { Tally.note() }
      },
      Entry("operation", .operations, share: 10) { count in
        await Operations.run(count) { BlockOperation { Tally.note() } }
      },
    ])
}
