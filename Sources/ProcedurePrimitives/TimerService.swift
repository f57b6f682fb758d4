/// Something that a timer calls when its deadline has passed.
public protocol TimerTarget: AnyObject, Sendable {
  /// Called once, on the timer's thread, at or after the deadline.
  ///
  /// It must neither block nor run user code: all other deadlines wait for it. Pass user code to
  /// `TimerService.deliver`, and do here only the part that other threads must see in time.
  func timerFired()
}

/// A target that only observes: virtual time does not advance for it alone.
package protocol QuietTarget: TimerTarget {}

/// A monotonic clock that wakes its targets. The real one uses Dispatch; a test clock is virtual.
public protocol TimerService: AnyObject, Sendable {
  /// The time now.
  var now: ContinuousClock.Instant { get }

  /// Calls `target` at or after `deadline`, never before. Keeps it alive until then. O(1).
  func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey

  /// Removes a timer. True if it had not fired and now never will. O(1).
  @discardableResult
  func cancel(_ key: SlabKey) -> Bool

  /// The instant that users see for a deadline of this clock: on the continuous clock, or on a
  /// test's.
  func continuousInstant(of deadline: ContinuousClock.Instant) -> ContinuousClock.Instant

  /// Runs work that may take long or block, on a thread where it delays no timer.
  func deliver(_ work: @escaping @Sendable () -> Void)
}

extension TimerService {
  /// The deadline itself: its clock is the continuous one, or a test's.
  public func continuousInstant(of deadline: ContinuousClock.Instant) -> ContinuousClock.Instant {
    deadline
  }
}
