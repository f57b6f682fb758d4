import Foundation
import ProcedureTestSupport
import ProceduresFoundation
import ProceduresTesting
import Testing

@Suite(.hangLimit) struct FoundationTimeTests {
  private let clock = TestClock()
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(scheduler: scheduler, clock: clock.clock)
  }

  /// Runs `procedure`, and says how long that took on the test clock.
  private func length(of procedure: Procedure) -> Duration {
    let began = clock.now
    makeQueue().add(procedure)
    scheduler.run()
    while !procedure.isFinished, clock.pendingCount > 0 {
      clock.advance(by: .milliseconds(10))
      scheduler.run()
    }
    #expect(procedure.isFinished)
    return began.duration(to: clock.now)
  }

  @Test("I3, K10: a deadline by the wall clock is known as an instant of the continuous clock")
  func deadlineOfDate() throws {
    let earliest = ContinuousClock.now + .seconds(99)
    let token = CancellationToken.deadline(Date(timeIntervalSinceNow: 100))
    let deadline = try #require(token.deadline)
    // The wall clock may be adjusted a little meanwhile.
    #expect((earliest...(ContinuousClock.now + .seconds(101))).contains(deadline))
    #expect(try (.seconds(0) ... .seconds(101)).contains(#require(token.timeLeft)))
    let source = CancellationTokenSource()
    source.cancel(after: 0.0, reason: .signal(2))
    #expect(source.token.reason == .signal(2))
    let past = CancellationTokenSource()
    past.cancel(at: Date(timeIntervalSince1970: 0), reason: .requested)
    #expect(past.token.reason == .requested)
  }

  @Test("I3: seconds are durations; what these cannot hold saturates, and no number is zero")
  func saturation() {
    #expect(Duration(saturating: 0.5) == .milliseconds(500))
    #expect(Duration(saturating: -2) == .seconds(-2))
    #expect(Duration(saturating: .nan) == .zero)
    let longest = Duration(saturating: .infinity)
    #expect(longest == Duration(attoseconds: .max))
    #expect(Duration(saturating: .greatestFiniteMagnitude) == longest)
    #expect(Duration(saturating: -.infinity) == Duration(attoseconds: .min))
    for seconds in [1.69e20, -1.69e20, 1e19, .leastNonzeroMagnitude, .ulpOfOne] {
      #expect((Duration(saturating: seconds) < .zero) == (seconds < 0))
    }
  }

  @Test("I3: a delay takes seconds, and ends at once for what is none")
  func delayBySeconds() {
    #expect(length(of: DelayProcedure(by: 0.5)) == .milliseconds(500))
    #expect(length(of: DelayProcedure(by: 2)) == .seconds(2))
    for seconds in [0, -1, .nan, -.infinity] as [TimeInterval] {
      #expect(length(of: DelayProcedure(by: seconds)) == .zero)
    }
    #expect(length(of: DelayProcedure(by: .zero)) == .zero)
    let endless = DelayProcedure(by: .infinity)
    makeQueue().add(endless)
    scheduler.run()
    clock.advance(by: .seconds(1_000_000_000))
    scheduler.run()
    #expect(!endless.isFinished)
    endless.cancel()
    scheduler.run()
    #expect(endless.outcome?.isCancelled == true)
  }

  @Test("I3: names and errors of any number of seconds can be read")
  func extremesInWords() async throws {
    let extremes: [TimeInterval] = [
      .infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    ]
    for seconds in extremes {
      #expect(DelayProcedure(by: seconds).name.hasPrefix("Delay of "))
      let procedure = DelayProcedure(by: 1).timeout(after: seconds)
      makeQueue().add(procedure)
      scheduler.run()
      procedure.cancel()
      scheduler.run()
      let outcome = try #require(procedure.outcome)
      #expect(outcome.isCancelled)
    }
  }

  @Test("I3: a delay until a date waits on the wall clock, never less, and is past at once")
  func delayUntilDate() async {
    let queue = ProcedureQueue()
    let date = Date(timeIntervalSinceNow: 0.03)
    #expect(await queue.run(DelayProcedure(until: date)).isSuccess)
    #expect(Date() >= date)
    let past = [.now, .distantPast, Date(timeIntervalSince1970: .nan)] as [Date]
    for date in past {
      #expect(await queue.run(DelayProcedure(until: date)).isSuccess)
    }
    for date in [.distantFuture, Date(timeIntervalSince1970: .infinity)] as [Date] {
      let endless = DelayProcedure(until: date)
      let executing = execution(of: endless)
      queue.add(endless)
      await executing.wait()
      endless.cancel()
      #expect(await endless.waitUntilFinished().isCancelled)
    }
  }

  @Test("I3: on a test clock a delay until a date is as long as it is until then")
  func delayUntilDateOnTestClock() {
    let delay = DelayProcedure(until: Date(timeIntervalSinceNow: 3600))
    makeQueue().add(delay)
    scheduler.run()
    clock.advance(by: .seconds(3000))
    scheduler.run()
    #expect(!delay.isFinished && clock.pendingCount == 1)
    clock.advance(by: .seconds(601))
    scheduler.run()
    #expect(delay.outcome?.isSuccess == true)
  }

  @Test("I3: timeouts and waits between attempts take seconds")
  func timeouts() {
    let observed = DelayProcedure(by: 100)
    observed.add(observer: TimeoutObserver(by: 0.25))
    #expect(length(of: observed) == .milliseconds(250))
    #expect(length(of: DelayProcedure(by: 100).timeout(after: 1.5)) == .milliseconds(1500))
    let atOnce = DelayProcedure(by: 100).timeout(after: -.infinity)
    #expect(length(of: atOnce) == .zero)
    #expect((atOnce.errors.first as? ProcedureError)?.code == .timedOut)
    let repeated = RepeatProcedure(max: 3, wait: .constant(0.5)) { BlockProcedure {} }
    #expect(length(of: repeated) == .seconds(1))
  }

  private func intervals(_ strategy: WaitStrategy, _ count: Int = 4) -> [Duration] {
    var iterator = strategy.makeIterator()
    return (0..<count).compactMap { _ in iterator.next() }
  }

  @Test("I3: every wait strategy takes seconds, and none overflows")
  func waitStrategies() {
    #expect(intervals(.constant(1.5), 2) == [.milliseconds(1500), .milliseconds(1500)])
    #expect(
      intervals(.incrementing(initial: 0, increment: 3)) == [0, 3, 6, 9].map { .seconds($0) })
    #expect(
      intervals(.exponential(period: 1, maximum: 5)) == [1, 2, 4, 5].map { .seconds($0) })
    #expect(intervals(.fibonacci(period: 1)) == [0, 1, 1, 2].map { .seconds($0) })
    let random = intervals(.random(minimum: 0.5, maximum: 1))
    #expect(random.allSatisfy { (.milliseconds(500) ... .seconds(1)).contains($0) })
    for odd in [.nan, .infinity, -.infinity, 1e300] as [TimeInterval] {
      for strategy in [
        WaitStrategy.constant(odd), .incrementing(initial: odd, increment: odd, maximum: odd),
        .exponential(power: odd, period: odd, maximum: odd),
        .fibonacci(period: odd, maximum: odd), .random(minimum: odd, maximum: odd),
      ] {
        #expect(intervals(strategy).allSatisfy { $0 >= .zero })
      }
    }
  }

  @Test("I3: an attempt's payload takes seconds")
  func payload() {
    let payload = RepeatProcedurePayload(procedure: BlockProcedure {}, delay: 0.5)
    #expect(payload.delay == .milliseconds(500))
    #expect(RepeatProcedurePayload(procedure: BlockProcedure {}, delay: nil).delay == nil)
  }

  @Test("I3: tokens take seconds and dates")
  func tokens() async {
    for token in [
      CancellationToken.timeout(0), .timeout(-.infinity), .timeout(.nan), .deadline(.distantPast),
      .deadline(Date()), .deadline(Date(timeIntervalSince1970: .nan)),
    ] {
      #expect(token.isCancelled)
      guard case .deadlineExceeded = token.reason else {
        Issue.record("the reason is \(String(describing: token.reason))")
        continue
      }
    }
    for token in [
      CancellationToken.timeout(.infinity), .timeout(1e300), .timeout(1000),
      .deadline(.distantFuture), .deadline(Date(timeIntervalSinceNow: 1000)),
      .deadline(Date(timeIntervalSince1970: .infinity)),
    ] {
      #expect(!token.isCancelled)
    }
    #expect(await CancellationToken.timeout(0.01).waitUntilCancelled())
    let date = Date(timeIntervalSinceNow: 0.03)
    #expect(await CancellationToken.deadline(date).waitUntilCancelled())
    #expect(Date() >= date)
    let source = CancellationTokenSource(timeout: 1000.5)
    source.cancel(at: .distantFuture)
    source.cancel(after: 1000)
    #expect(!source.isCancelled)
    source.cancel(at: Date(timeIntervalSinceNow: -1))
    #expect(source.isCancelled)
    let procedure = DelayProcedure(by: 1000)
    ProcedureQueue().add(procedure, cancelledBy: .deadline(Date(timeIntervalSinceNow: 0.01)))
    #expect(await procedure.waitUntilFinished().isCancelled)
  }

  @Test("I3: a call that takes seconds and durations takes a duration where only the name says so")
  func ambiguity() {
    // It compiles.
    _ = DelayProcedure(until: .now + .seconds(1))
    _ = TimeoutObserver(by: .zero)
    _ = WaitStrategy.constant(.zero)
    CancellationTokenSource().cancel(at: .now)
    #expect(length(of: DelayProcedure(by: .seconds(1))) == .seconds(1))
    #expect(CancellationToken.timeout(.zero).isCancelled)
    #expect(CancellationToken.deadline(.now).isCancelled)
  }
}
