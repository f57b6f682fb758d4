internal import Dispatch
import Procedures

/// Timers that are far from firing, in whose company others are measured.
enum PendingTimers {
  /// Delays that execute, on a queue of their own.
  static func delays(_ count: Int) async -> ProcedureQueue {
    let queue = ProcedureQueue()
    await startDelays(count, on: queue)
    return queue
  }

  /// Adds delays, and returns when they have been scheduled.
  ///
  /// Ready procedures start in the order of adding: when the last has run, the delays before it have
  /// been taken, one at each worker perhaps not yet to its end.
  @discardableResult
  static func startDelays(_ count: Int, on queue: ProcedureQueue) async -> [DelayProcedure] {
    let delays = (0..<count).map { DelayProcedure(by: .seconds(1_000 + $0 % 1_000)) }
    queue.add(delays)
    _ = await queue.run(BlockProcedure {})
    return delays
  }

  static func deadlines(_ count: Int) -> [CancellationTokenSource] {
    (0..<count).map { CancellationTokenSource(timeout: .seconds(1_000 + $0 % 1_000)) }
  }

  static func dispatchTimers(_ count: Int) -> [any DispatchSourceTimer] {
    (0..<count).map { dispatchTimer(seconds: 1_000 + $0 % 1_000) }
  }

  /// A timer of Dispatch's, scheduled.
  static func dispatchTimer(seconds: Int) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler {}
    timer.schedule(deadline: .now() + .seconds(seconds))
    timer.activate()
    return timer
  }
}
