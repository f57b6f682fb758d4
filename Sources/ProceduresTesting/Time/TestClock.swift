public import Cancellation
internal import ProcedurePrimitives

/// A clock whose time passes only when the test advances it.
///
/// ```swift
/// let clock = TestClock()
/// let queue = ProcedureQueue(clock: clock.clock)
/// queue.add(reminder)
/// clock.advance(by: .seconds(60))
/// ```
///
/// Pass `clock` to a queue, or to a token with a deadline. Timers that fall due run on the thread
/// that advances, before `advance` returns, in order of deadline: a deadline's handlers therefore
/// have been called when it returns, while a procedure that finishes does so on its queue's
/// workers.
///
/// Any duration is allowed: time ends some 146 years after the clock was made, and later timers
/// never fire.
///
/// One thread at a time may advance it. Everything else may be called from any thread.
public final class TestClock: Sendable {
  private let service = VirtualTimers()

  /// Makes a clock that only the test advances.
  public init() {}

  /// The clock for a queue or a token.
  public var clock: TimerClock { TimerClock(service: service) }

  /// The time on this clock.
  public var now: ContinuousClock.Instant { service.now }

  /// The number of pending timers: deadlines, delays, timeouts. Checks for waits to report do not
  /// count.
  public var pendingCount: Int { service.pendingCount }

  /// Lets time pass. Timers that fall due are called in order, each at its own time.
  public func advance(by duration: Duration) {
    service.advance(to: service.elapsed + duration.nanosecondsRoundedUp)
  }

  /// Lets time pass until `instant`. Has no effect if that has passed.
  public func advance(to instant: ContinuousClock.Instant) {
    service.advance(to: service.nanoseconds(until: instant))
  }

  /// Lets time pass until no timer is pending, including timers that are set on the way.
  ///
  /// Procedures on their queue's workers may set more timers after it has returned. It does
  /// not return if a timer is set each time one fires.
  public func runUntilIdle() {
    while service.pendingCount > 0, let next = service.nextWake, next <= VirtualTimers.end {
      service.advance(to: next)
    }
  }
}
