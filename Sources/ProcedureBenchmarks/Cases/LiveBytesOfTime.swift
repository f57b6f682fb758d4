import Foundation
import Procedures

extension Contest {
  /// What malloc holds for whatever waits for its time.
  static let bytesOfTime = Contest(
    name: "live bytes, pending time", unit: .bytes, mostRounds: 3, count: 20_000,
    entries: [
      .measured("DelayProcedure", tally: 0) { count in
        var queue: ProcedureQueue?
        let bytes = await LiveBytes.each(of: count) {
          queue = await PendingTimers.delays(count)
        }
        queue?.cancelAll()
        await queue?.waitUntilAllFinished()
        return [bytes]
      },
      .measured("token with a deadline", tally: 0) { count in
        var sources: [CancellationTokenSource] = []
        sources.reserveCapacity(count)
        let bytes = await LiveBytes.each(of: count) {
          for _ in 0..<count { sources.append(CancellationTokenSource(timeout: .seconds(1_000))) }
        }
        for source in sources { source.cancel() }
        return [bytes]
      },
      .measured("DispatchSourceTimer", .dispatch, share: 10, tally: 0) { count in
        var timers: [any DispatchSourceTimer] = []
        timers.reserveCapacity(count)
        let bytes = await LiveBytes.each(of: count) {
          for _ in 0..<count { timers.append(PendingTimers.dispatchTimer(seconds: 1_000)) }
        }
        for timer in timers { timer.cancel() }
        return [bytes]
      },
    ])
}
