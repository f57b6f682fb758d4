/// Something to be called when its time has come.
public protocol TimerTarget: AnyObject, Sendable {
  /// Called once, on the timer's thread, at or after the deadline.
  ///
  /// Must neither block nor run user code: all other deadlines wait for it. It hands user code on, by
  /// `TimerService.deliver`; here it does the part that others must see in time.
  func timerFired()
}

/// A target that only looks at something: virtual time does not pass for it alone.
package protocol QuietTarget: TimerTarget {}

/// A monotonic clock that wakes its targets. The real one stands on Dispatch, a test's on nothing.
public protocol TimerService: AnyObject, Sendable {
  /// The time now.
  var now: ContinuousClock.Instant { get }

  /// Calls `target` at or after `deadline`, never before. Keeps it alive until then. O(1).
  func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey

  /// Forgets a timer. True if it had not fired and now never will. O(1).
  @discardableResult
  func cancel(_ key: SlabKey) -> Bool

  /// The instant by which users know a deadline of this clock: on the continuous clock, unless a test has its own.
  func continuousInstant(of deadline: ContinuousClock.Instant) -> ContinuousClock.Instant

  /// Runs work that may take long, or block, where it delays no other timer.
  func deliver(_ work: @escaping @Sendable () -> Void)
}

extension TimerService {
  /// The deadline itself: its clock is the continuous one, or a test's.
  public func continuousInstant(of deadline: ContinuousClock.Instant) -> ContinuousClock.Instant {
    deadline
  }
}
