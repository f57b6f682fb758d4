import Foundation
import Procedures

extension Contest {
  /// Made, scheduled and cancelled before it is time, while 100,000 others are pending.
  static let delays = delays(among: 100_000, rounds: 7)

  /// The same among a million.
  static let delaysAmongMillion = delays(among: 1_000_000, rounds: 3)

  private static func delays(among pending: Int, rounds: Int) -> Contest {
    Contest(
      name: "delays, \(pending.grouped) pending", mostRounds: rounds, count: 20_000,
      entries: [
        .timed("DelayProcedure", tally: 0) { count in
          let others = await PendingTimers.delays(pending)
          let queue = ProcedureQueue()
          var delays: [DelayProcedure] = []
          let duration = await ContinuousClock().measure {
            delays = await PendingTimers.startDelays(count, on: queue)
            for delay in delays { delay.cancel() }
            await queue.waitUntilAllFinished()
          }
          expect(delays.allSatisfy(\.isCancelled), "a delay was not cancelled")
          expect(others.count == pending, "\(others.count) delays are pending")
          others.cancelAll()
          await others.waitUntilAllFinished()
          return duration
        },
        .timed("deadline of a token", tally: 0) { count in
          let others = PendingTimers.deadlines(pending)
          let duration = ContinuousClock().measure {
            for index in 0..<count {
              CancellationTokenSource(timeout: .milliseconds(500_000 + index)).cancel()
            }
          }
          for other in others { other.cancel() }
          return duration
        },
        .timed("DispatchSourceTimer", .dispatch, share: 10, tally: 0) { count in
          let others = PendingTimers.dispatchTimers(pending / 10)
          let duration = ContinuousClock().measure {
            for index in 0..<count {
              PendingTimers.dispatchTimer(seconds: 500 + index % 100).cancel()
            }
          }
          for other in others { other.cancel() }
          return duration
        },
        .timed("Task.sleep, nothing else pending", .tasks, share: 20) { count in
          let clock = ContinuousClock()
          return await clock.measure {
            let tasks = (0..<count).map { _ in
              Task.detached {
                try? await Task.sleep(for: .seconds(500))
                Tally.note()
              }
            }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
          }
        },
      ])
  }
}
