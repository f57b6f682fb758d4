public import Foundation
internal import ProcedurePrimitives

extension DelayProcedure {
  /// Makes a delay of so many seconds, counted from when it executes.
  ///
  /// ```swift
  /// queue.add(DelayProcedure(by: 0.5))
  /// ```
  ///
  /// At zero or less, and at what is not a number, it ends at once; infinity never ends by itself.
  @_disfavoredOverload  // .zero is a Duration.
  public convenience init(name: String? = nil, by seconds: TimeInterval) {
    self.init(name: name, by: Duration(saturating: seconds))
  }

  /// Makes a delay until a date, by the wall clock: if that is set, so is the end.
  ///
  /// ```swift
  /// queue.add(DelayProcedure(until: alarm.date))
  /// ```
  ///
  /// It never ends early by that clock. At a date in the past it ends at once, and
  /// `.distantFuture` is not reached. While the machine sleeps time passes, and a delay that was due
  /// ends when it wakes. On a queue with a test clock the time from now to `date` is waited
  /// for on that clock.
  @_disfavoredOverload  // .now is an instant.
  public convenience init(name: String? = nil, until date: Date) {
    self.init(
      name: name,
      endingAt: { clock in
        guard clock.service === DispatchTimers.shared else {
          let wait = Duration(saturating: date.timeIntervalSinceNow)
          return (clock, clock.now.saturatingAdvanced(by: wait))
        }
        return (TimerClock(service: WallTimers.shared), WallTimers.shared.instant(of: date))
      })
  }
}
