package import ProcedurePrimitives

/// The clock of deadlines, delays and timeouts.
///
/// `continuous` is the process's monotonic clock. A test clock takes its place in tests, so that
/// time passes only when the test advances it. Copies are the same clock.
public struct TimerClock: Sendable {
  package let service: any TimerService

  package init(service: any TimerService) {
    self.service = service
  }

  /// The monotonic clock of the machine, with one shared Dispatch timer source for all deadlines.
  public static let continuous = TimerClock(service: DispatchTimers.shared)

  /// The time on this clock.
  public var now: ContinuousClock.Instant { service.now }
}
