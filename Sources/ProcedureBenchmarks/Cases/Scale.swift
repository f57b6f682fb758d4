import Foundation
import Procedures

/// The numbers of items on the horizontal axis of the plot.
private let sizes = [10, 100, 1_000, 10_000, 100_000, 1_000_000]

extension Contest {
  /// The no-op in all numbers, each with a queue of its own: what few cost, and many.
  static let scale = Contest(
    name: "scale, no-op", mostRounds: 3, isPlotted: true, count: 20_000,
    entries: sizes.flatMap { size in
      [
        Entry("procedure", size: size) { count in await OwnQueue.run(count) { NoOperation() } },
        Entry("DispatchQueue.global().async", .dispatch, size: size) { count in
          await BareDispatch.run(count) { Tally.note() }
        },
        Entry("task of a task group", .tasks, size: size) { count in
          await Tasks.run(count) { Tally.note() }
        },
        Entry("operation", .operations, size: size) { count in
          await Operations.run(count) { BlockOperation { Tally.note() } }
        },
      ]
    })

  /// The chain in all numbers.
  static let scaleOfChain = Contest(
    name: "scale, chain", mostRounds: 3, isPlotted: true, count: 20_000,
    entries: sizes.flatMap { size in
      [
        Entry("procedure after procedure", size: size) { await Chain.runProcedures($0) },
        Entry("serial DispatchQueue.async", .dispatch, size: size) { count in
          await BareDispatch.run(count, on: BareDispatch.serialQueue()) { Tally.note() }
        },
        Entry("task that awaits the one before", .tasks, size: size) { await Chain.runTasks($0) },
      ]
        // Longer ones take it minutes: the time of a link grows with the length.
        + (size > 1_000
          ? []
          : [
            Entry("operation after operation", .operations, share: 10, size: size) {
              await Chain.runOperations($0)
            }
          ])
    })
}
