import Foundation
internal import ProcedurePrimitives
import Procedures

extension Contest {
  /// The time from adding one procedure to an idle queue until it executes: each round takes the
  /// median of many trials.
  static let latency = Contest(
    name: "latency", ceiling: 1.1, aim: 1,
    ours: Side(measuring: "add to execute on an idle queue", items: 200) { count in
      let queue = ProcedureQueue()
      return medianLatency(count) { work in queue.add(BlockProcedure(work)) }
    },
    theirs: Side(measuring: "async to block on an idle Dispatch queue", items: 200) { count in
      let queue = DispatchQueue.global()
      return medianLatency(count) { work in queue.async(execute: work) }
    })

  /// It blocks the main thread, which belongs to no pool, between and during the trials.
  private static func medianLatency(
    _ count: Int, _ submit: (_ work: @escaping @Sendable () -> Void) -> Void
  ) -> Double {
    let isDone = DispatchSemaphore(value: 0)
    return (0..<count).map { _ in
      Thread.sleep(forTimeInterval: 0.000_2)
      let end = Locked(ContinuousClock.now)
      let start = ContinuousClock.now
      submit {
        let now = ContinuousClock.now
        end.withLock { $0 = now }
        Tally.note()
        isDone.signal()
      }
      isDone.wait()
      return (end.withLock { $0 } - start).nanoseconds
    }.quantile(0.5)
  }
}
