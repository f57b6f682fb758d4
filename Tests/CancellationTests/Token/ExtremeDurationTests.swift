import Cancellation
import ProcedureTestSupport
import Testing

/// K10: every duration is accepted. On a clock that is older than a second: sums overflow there
/// first.
@Suite(.hangLimit) struct ExtremeDurationTests {
  static let neverPassing: [Duration] = [
    .seconds(Int64.max), .seconds(1e19), Duration(attoseconds: .max), .seconds(100_000_000_000),
  ]
  static let passed: [Duration] = [
    .seconds(Int64.min), .seconds(-1e19), Duration(attoseconds: .min), .zero, .nanoseconds(-1),
  ]

  private static func agedClock() -> TestClock {
    let time = TestClock()
    time.advance(by: .seconds(5))
    return time
  }

  @Test("K10: a deadline beyond all time never cancels, and stops nothing", arguments: neverPassing)
  func endless(duration: Duration) {
    let time = Self.agedClock()
    let source = CancellationTokenSource()
    source.cancel(after: duration, clock: time.clock)
    let token = CancellationToken.timeout(duration, clock: time.clock)
    let either = token || .timeout(.seconds(3), clock: time.clock)
    let onTheMachinesClock = CancellationTokenSource(timeout: duration)
    onTheMachinesClock.cancel(after: duration)
    let timeout = CancellationToken.timeout(duration)
    time.advance(by: .seconds(1_000_000_000))
    #expect(!source.isCancelled && !token.isCompleted && either.isCancelled)
    #expect(!onTheMachinesClock.isCancelled && !timeout.isCompleted)
    time.advance(by: duration)
    time.advance(by: duration)
    #expect(!source.isCancelled && !token.isCompleted)
    time.runUntilIdle()
    #expect(!source.isCancelled && time.pendingCount == 2)
    source.cancel(after: .zero, clock: time.clock)
    #expect(source.isCancelled)
  }

  @Test("K10: a deadline in the past, however far, is over", arguments: passed)
  func past(duration: Duration) {
    let time = Self.agedClock()
    let source = CancellationTokenSource()
    source.cancel(after: duration, clock: time.clock)
    #expect(source.isCancelled && CancellationToken.timeout(duration).isCancelled)
    #expect(CancellationTokenSource(timeout: duration).isCancelled)
    #expect(CancellationToken.timeout(duration, clock: time.clock).isCancelled)
    time.advance(by: duration)
    #expect(time.pendingCount == 0)
  }

  @Test("K10: instants as far away as an instant can be are deadlines too")
  func instants() {
    let time = Self.agedClock()
    let later = time.now.advanced(by: Duration(attoseconds: .max) - .seconds(1_000_000_000))
    let earlier = time.now.advanced(by: Duration(attoseconds: .min))
    #expect(!CancellationToken.deadline(later, clock: time.clock).isCompleted)
    #expect(!CancellationToken.deadline(later).isCompleted)
    #expect(CancellationToken.deadline(earlier, clock: time.clock).isCancelled)
    time.advance(to: earlier)
    time.advance(to: later)
  }
}
