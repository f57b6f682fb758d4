import Foundation
import Procedures

extension Contest {
  /// How late it is when a delay ends: a thousand of them over a tenth of a second.
  static let delayLateness = Contest(
    name: "delays, lateness when firing", item: "delay", figures: Latencies.figures, mostRounds: 5,
    count: 1_000,
    entries: [
      .measured("DelayProcedure") { count in await lateness(ofDelays: count) },
      .measured("DelayProcedure, 100,000 others pending") { count in
        let others = await PendingTimers.delays(100_000)
        let lateness = await lateness(ofDelays: count)
        others.cancelAll()
        await others.waitUntilAllFinished()
        return lateness
      },
      .measured("deadline of a token") { count in
        let latencies = Latencies()
        let group = DispatchGroup()
        let sources = dueInstants(count).map { due in
          let source = CancellationTokenSource()
          group.enter()
          source.token.onCancel {
            latencies.note(since: due)
            Tally.note()
            group.leave()
          }
          source.cancel(at: due)
          return source
        }
        await BareDispatch.finished(group)
        expect(sources.allSatisfy(\.isCancelled), "a deadline was missed")
        return latencies.percentiles
      },
      .measured("asyncAfter", .dispatch) { count in
        let latencies = Latencies()
        let group = DispatchGroup()
        for due in dueInstants(count) {
          group.enter()
          DispatchQueue.global().asyncAfter(deadline: dispatchTime(due)) {
            latencies.note(since: due)
            Tally.note()
            group.leave()
          }
        }
        await BareDispatch.finished(group)
        return latencies.percentiles
      },
      .measured("Task.sleep", .tasks) { count in
        let latencies = Latencies()
        await withDiscardingTaskGroup { group in
          for due in dueInstants(count) {
            group.addTask {
              try? await Task.sleep(until: due, tolerance: .zero, clock: .continuous)
              latencies.note(since: due)
              Tally.note()
            }
          }
        }
        return latencies.percentiles
      },
    ])

  private static func lateness(ofDelays count: Int) async -> [Double] {
    let latencies = Latencies()
    let queue = ProcedureQueue()
    for due in dueInstants(count) {
      let delay = DelayProcedure(until: due)
      delay.addDidFinishBlockObserver { _, _ in
        latencies.note(since: due)
        Tally.note()
      }
      queue.add(delay)
    }
    await queue.waitUntilAllFinished()
    return latencies.percentiles
  }

  /// Spread over a tenth of a second, in no order, not before all of them can be scheduled.
  private static func dueInstants(_ count: Int) -> [ContinuousClock.Instant] {
    let first = ContinuousClock.now + .milliseconds(20)
    return (0..<count).map { first + .microseconds($0 * 7_919 % count * 100_000 / count) }
  }

  private static func dispatchTime(_ instant: ContinuousClock.Instant) -> DispatchTime {
    .now() + .nanoseconds(Int((instant - .now).nanoseconds))
  }
}
