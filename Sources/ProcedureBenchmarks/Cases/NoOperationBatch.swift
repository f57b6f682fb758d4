import Foundation
import Procedures

extension Contest {
  /// The same, made first and added all at once, by the entries that can.
  static let noOperationBatch = Contest(
    name: "no-op, batch", count: 100_000,
    entries: [
      Entry("procedure") { count in await OwnQueue.run((0..<count).map { _ in NoOperation() }) },
      Entry("DispatchQueue.global().async", .dispatch) { count in
        await BareDispatch.run(count) { Tally.note() }
      },
      Entry("DispatchWorkItem", .dispatch) { count in
        let items = (0..<count).map { _ in DispatchWorkItem { Tally.note() } }
        let queue = BareDispatch.concurrentQueue()
        for item in items { queue.async(execute: item) }
        await BareDispatch.drained(queue)
      },
      Entry("operation", .operations, share: 10) { count in
        await Operations.run((0..<count).map { _ in BlockOperation { Tally.note() } })
      },
    ])
}
