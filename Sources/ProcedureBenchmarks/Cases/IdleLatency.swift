import Foundation
import Procedures

extension Contest {
  /// From the add of one procedure until it executes, when nothing has been going on.
  static let idleLatency = Contest(
    name: "idle latency", item: "trial", figures: Latencies.figures, count: 300,
    entries: [
      .measured("procedure") { count in
        let queue = ProcedureQueue()
        return idleLatencies(count) { work in queue.add(BlockProcedure { work() }) }
      },
      .measured("DispatchQueue.global().async", .dispatch) { count in
        let queue = DispatchQueue.global()
        return idleLatencies(count) { work in queue.async { work() } }
      },
      .measured("task", .tasks) { count in
        idleLatencies(count) { work in Task.detached { work() } }
      },
      .measured("operation", .operations) { count in
        let queue = OperationQueue()
        return idleLatencies(count) { work in queue.addOperation(BlockOperation { work() }) }
      },
    ])

  /// Blocks the main thread, which is of no pool, between the trials and during them.
  private static func idleLatencies(
    _ count: Int, _ submit: (_ work: @escaping @Sendable () -> Void) -> Void
  ) -> [Double] {
    let latencies = Latencies()
    let done = DispatchSemaphore(value: 0)
    for _ in 0..<count {
      Thread.sleep(forTimeInterval: 0.000_2)
      let start = ContinuousClock.now
      submit {
        latencies.note(since: start)
        Tally.note()
        done.signal()
      }
      done.wait()
    }
    return latencies.percentiles
  }
}
