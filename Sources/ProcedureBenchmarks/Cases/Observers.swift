import Foundation
import Procedures

extension Contest {
  /// What observers cost. They note themselves, as the work does.
  static let observers = Contest(
    name: "observers", count: 100_000,
    entries: [
      Entry("procedure") { count in await OwnQueue.run(count) { NoOperation() } },
      Entry("procedure, 1 DidFinish observer", tally: 2) { count in
        await OwnQueue.run(count) {
          let procedure = NoOperation()
          procedure.addDidFinishBlockObserver { _, _ in Tally.note() }
          return procedure
        }
      },
      Entry("procedure, 4 observers", tally: 5) { count in
        await OwnQueue.run(count) {
          let procedure = NoOperation()
          procedure.addWillExecuteBlockObserver { _, _ in Tally.note() }
          procedure.addDidExecuteBlockObserver { _ in Tally.note() }
          procedure.addWillFinishBlockObserver { _, _, _ in Tally.note() }
          procedure.addDidFinishBlockObserver { _, _ in Tally.note() }
          return procedure
        }
      },
      Entry("DispatchWorkItem, 1 notify", .dispatch, share: 4, tally: 2) { count in
        let queue = DispatchQueue.global()
        let group = DispatchGroup()
        for _ in 0..<count {
          let item = DispatchWorkItem { Tally.note() }
          group.enter()
          item.notify(queue: queue) {
            Tally.note()
            group.leave()
          }
          queue.async(execute: item)
        }
        await BareDispatch.finished(group)
      },
      Entry("operation, completionBlock", .operations, share: 10, tally: 2) { count in
        let group = DispatchGroup()
        await Operations.run(count) {
          let operation = BlockOperation { Tally.note() }
          group.enter()
          operation.completionBlock = {
            Tally.note()
            group.leave()
          }
          return operation
        }
        await BareDispatch.finished(group)
      },
    ])
}
