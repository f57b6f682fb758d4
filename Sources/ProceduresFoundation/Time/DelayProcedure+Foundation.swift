public import Foundation
internal import ProcedurePrimitives

/// A delay until a date, by the wall clock: setting the clock moves the end.
///
/// ```swift
/// queue.add(DelayProcedure(until: alarm.date))
/// ```
///
/// It never ends early by that clock. For a date in the past it ends at once, for `.distantFuture`
/// never. Time passes while the machine sleeps; a delay that was due ends when it wakes. On a queue
/// with a test clock, that clock waits for the time from now to the date.
extension Date: DelayEnd {
  /// The wall clock, or the test clock of the queue.
  public func endOfDelay(
    on queueClock: TimerClock
  ) -> (TimerClock, ContinuousClock.Instant) {
    guard queueClock.service === DispatchTimers.shared else {
      let wait = Duration(saturating: timeIntervalSinceNow)
      return (queueClock, queueClock.now.saturatingAdvanced(by: wait))
    }
    return (TimerClock(service: WallTimers.shared), WallTimers.shared.instant(of: self))
  }
}
