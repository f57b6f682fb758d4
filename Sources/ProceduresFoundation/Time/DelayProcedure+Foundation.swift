public import Foundation
internal import ProcedurePrimitives

/// A delay until a date, by the wall clock: if that is set, so is the end.
///
/// ```swift
/// queue.add(DelayProcedure(until: alarm.date))
/// ```
///
/// It never ends early by that clock. At a date in the past it ends at once, and
/// `.distantFuture` is not reached. While the machine sleeps time passes, and a delay that was due
/// ends when it wakes. On a queue with a test clock the time from now to the date is waited
/// for on that clock.
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
