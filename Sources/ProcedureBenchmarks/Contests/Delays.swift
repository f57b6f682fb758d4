import Foundation
import Procedures

/// Items are made, scheduled, and cancelled before they are due, while all the others are pending.
extension Contest {
  static let delay = Contest(
    name: "delay", ceiling: 0.8,
    ours: Side("delay procedure", items: 20_000, tally: 0) { count in
      await ProcedureWork.cancelAll(await ProcedureWork.delays(count))
    },
    theirs: timers)

  static let deadline = Contest(
    name: "deadline", ceiling: 0.8,
    ours: Side("token with a deadline", items: 20_000, tally: 0) { count in
      for source in deadlines(count) { source.cancel() }
    },
    theirs: timers)

  static func deadlines(_ count: Int) -> [CancellationTokenSource] {
    (0..<count).map { CancellationTokenSource(timeout: .seconds(1_000 + $0 % 1_000)) }
  }

  private static let timers = Side("Dispatch timer source", items: 20_000, tally: 0) { count in
    for timer in DispatchWork.timers(count) { timer.cancel() }
  }
}
