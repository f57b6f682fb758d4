import Cancellation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

/// K10, in virtual time.
@Suite(.hangLimit) struct DeadlineTests {
  @Test("K10: a source is cancelled at its deadline, not before, with .deadlineExceeded")
  func deadline() {
    let time = TestClock()
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(5), clock: time.clock)
    time.advance(by: .milliseconds(4_999))
    #expect(!source.token.isCompleted)
    time.advance(by: .milliseconds(1))
    #expect(source.isCancelled)
    #expect(source.token.reason == .deadlineExceeded)
    #expect(time.pendingCount == 0)
  }

  @Test("K10: a second deadline replaces the first, earlier or later", arguments: [2, 20])
  func rearm(seconds: Int) {
    let time = TestClock()
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(10), clock: time.clock)
    source.cancel(at: time.now.advanced(by: .seconds(seconds)), clock: time.clock)
    #expect(time.pendingCount == 1)
    time.advance(by: .seconds(seconds) - .milliseconds(1))
    #expect(!source.isCancelled)
    time.advance(by: .milliseconds(1))
    #expect(source.isCancelled)
  }

  @Test("K10: zero, negative and past deadlines cancel at once and make no timer")
  func past() {
    let time = TestClock()
    for duration in [Duration.zero, .seconds(-1)] {
      let source = CancellationTokenSource()
      source.cancel(after: duration, clock: time.clock)
      #expect(source.isCancelled)
      #expect(CancellationToken.timeout(duration, clock: time.clock).isCancelled)
    }
    #expect(CancellationToken.deadline(time.now, clock: time.clock).isCancelled)
    #expect(CancellationTokenSource(timeout: .zero).isCancelled)
    #expect(CancellationToken.timeout(.zero).isCancelled)
    #expect(CancellationToken.deadline(.now).isCancelled)
    #expect(time.pendingCount == 0)
  }

  @Test("K10: a cancel, or the end of the source, takes the timer away at once")
  func timerLeaves() {
    let time = TestClock()
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(5), clock: time.clock)
    source.cancel()
    #expect(time.pendingCount == 0)
    source.cancel(after: .seconds(5), clock: time.clock)
    #expect(time.pendingCount == 0)
    #expect(source.token.reason == .requested)
    var dropped: CancellationTokenSource? = CancellationTokenSource()
    dropped?.cancel(after: .seconds(5), clock: time.clock)
    let token = dropped!.token
    dropped = nil
    #expect(time.pendingCount == 0)
    time.advance(by: .seconds(6))
    #expect(token.isCompleted && !token.isCancelled)
  }

  @Test("K10: the earliest of cancel, deadline and parents wins")
  func earliest() {
    let time = TestClock()
    let parent = CancellationTokenSource()
    parent.cancel(after: .seconds(3), clock: time.clock)
    let child = CancellationTokenSource(linkedTo: parent.token)
    child.cancel(after: .seconds(9), clock: time.clock)
    let either = child.token || .timeout(.seconds(2), clock: time.clock)
    time.advance(by: .seconds(2))
    #expect(either.isCancelled && !child.isCancelled)
    time.advance(by: .seconds(1))
    #expect(child.isCancelled)
    #expect(time.pendingCount == 0)
  }

  @Test("K10: a timeout token without an owner fires if it has a handler")
  func ownerlessWithHandler() {
    let time = TestClock()
    let counter = Counter()
    CancellationToken.timeout(.seconds(1), clock: time.clock).onCancel { counter.increment() }
    let target = Probe().target { counter.increment() }
    CancellationToken.timeout(.seconds(1), clock: time.clock).register(target)
    #expect(time.pendingCount == 2)
    time.advance(by: .seconds(1))
    #expect(counter.value == 2)
    withExtendedLifetime(target) {}
  }

  @Test("K10: a timeout token with neither owner nor handler takes its timer along")
  func ownerlessWithoutHandler() {
    let time = TestClock()
    _ = CancellationToken.timeout(.seconds(3_600), clock: time.clock)
    #expect(time.pendingCount == 0)
    // Also when the last handler leaves.
    let registration = CancellationToken.timeout(.seconds(3_600), clock: time.clock).onCancel {}
    #expect(time.pendingCount == 1)
    #expect(registration.remove())
    _ = consume registration
    #expect(time.pendingCount == 0)
    // Also when a token derived from it leaves.
    let other = CancellationTokenSource()
    var derived = CancellationToken.timeout(.seconds(3_600), clock: time.clock) || other.token
    #expect(time.pendingCount == 1)
    derived = .never
    #expect(time.pendingCount == 0)
    derived = CancellationToken.timeout(.seconds(3_600), clock: time.clock).map { true }
    #expect(time.pendingCount == 1)
    derived = .never
    #expect(time.pendingCount == 0 && derived == .never)
  }

  @Test("K10: an absurdly long timeout never fires and does not overflow")
  func saturation() {
    let time = TestClock()
    let far = Duration.seconds(Int64.max / 2)
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(100_000_000_000), clock: time.clock)
    let token = CancellationToken.timeout(.seconds(200_000_000_000), clock: time.clock)
    let onTheRealClock = CancellationToken.timeout(far)
    time.advance(by: .seconds(1_000_000))
    #expect(!source.isCancelled && !token.isCompleted && !onTheRealClock.isCompleted)
  }

  @Test("K10: a caller that is late with a deadline that lay ahead calls no handler itself")
  func lateCaller() {
    // Each look at the clock is a second after the one before.
    let slow = SlowCallersClock()
    let source = CancellationTokenSource()
    let calls = Calls()
    source.token.onCancel { calls.note() }
    source.cancel(after: .milliseconds(1), clock: TimerClock(service: slow))
    #expect(calls.count == 0 && !source.isCancelled)
    slow.fireAll()
    #expect(source.isCancelled && calls.count == 1)
  }

  @Test("K10: 30,000 pending timeouts that are cancelled early leave no timer")
  func manyTimers() {
    let time = TestClock()
    var sources: [CancellationTokenSource] = []
    for index in 0..<30_000 {
      let source = CancellationTokenSource()
      source.cancel(after: .milliseconds(1 + index * 7 % 50_000), clock: time.clock)
      sources.append(source)
    }
    #expect(time.pendingCount == 30_000)
    for source in sources { source.cancel() }
    #expect(time.pendingCount == 0)
  }

  @Test("K10: on the machine's clock a deadline is never early, and its handler runs off the timer")
  func realTime() async {
    let source = CancellationTokenSource()
    let (gate, start) = (Gate(), ContinuousClock.now)
    // A handler that blocks must not hold up the next deadline.
    let blocked = Gate()
    source.token.onCancel { blocked.block() }
    source.token.onCancel { gate.open() }
    source.cancel(after: .milliseconds(3))
    let next = CancellationTokenSource(timeout: .milliseconds(6))
    next.token.onCancel { blocked.open() }
    await gate.wait()
    #expect(ContinuousClock.now - start >= .milliseconds(6))
    #expect(source.isCancelled && next.isCancelled)
  }
}

private final class Calls: Sendable {
  private let state = Locked(0)
  var count: Int { state.withLock { $0 } }
  func note() { state.withLock { $0 += 1 } }
}

/// A clock on which a second passes between any two looks.
private final class SlowCallersClock: TimerService {
  private struct State: Sendable {
    var now = ContinuousClock.now
    var targets: [any TimerTarget] = []
  }

  private let state = Locked(State())

  var now: ContinuousClock.Instant {
    state.withLock { state in
      state.now = state.now.advanced(by: .seconds(1))
      return state.now
    }
  }

  func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey {
    state.withLock { state in
      state.targets.append(target)
      return SlabKey(place: UInt32(state.targets.count), serial: 1)
    }
  }

  func cancel(_ key: SlabKey) -> Bool { false }
  func deliver(_ work: @escaping @Sendable () -> Void) { work() }

  func fireAll() {
    for target in state.withLock({ $0.targets }) { target.timerFired() }
  }
}
