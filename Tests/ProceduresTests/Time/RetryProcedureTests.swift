import Procedures
import ProcedureTestSupport
import Testing

@Suite struct RetryProcedureTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let made = Counter()
  private var queue: ProcedureQueue { ProcedureQueue(scheduler: scheduler, clock: clock.clock) }

  /// Fails so many times and then succeeds with the number of the attempt.
  private func attempts(failing failures: Int) -> @Sendable () -> ResultProcedure<Int>? {
    { [made] in
      let number = made.increment()
      let attempt = ResultProcedure {
        if number <= failures { throw TestError("\(number)") }
        return number
      }
      attempt.name = "attempt"
      return attempt
    }
  }

  @Test("a success ends it; the errors before are dropped; its output is the retry's")
  func success() {
    let queue = queue
    let retry = RetryProcedure(max: 5, body: attempts(failing: 2))
    let after = IdentityProcedure<Int>().injectResult(from: retry)
    queue.add(retry, after)
    scheduler.run()
    #expect("\(retry.outcome!)" == "succeeded" && retry.count == 3 && after.input == 3)
    let first = RetryProcedure(max: 5, body: attempts(failing: 0))
    queue.add(first)
    scheduler.run()
    #expect(first.count == 1)
  }

  @Test("Z4: without a further attempt it fails with the errors of the last; max: 0 attempts none")
  func failure() {
    let queue = queue
    let retry = RetryProcedure(max: 3, body: attempts(failing: .max))
    let none = RetryProcedure(max: 0, body: attempts(failing: .max))
    queue.add(retry, none)
    scheduler.run()
    #expect("\(retry.outcome!)" == "failed: Child 'attempt': 3" && retry.count == 3)
    #expect("\(none.outcome!)" == "succeeded" && none.count == 0)
    #expect(throws: TestError("3")) { try retry.output?.get() }
  }

  @Test("Z4: a cancelled attempt ends the retry as cancelled, with the attempt's errors")
  func cancelledAttempt() {
    for errors in [[], [TestError("stop")]] {
      let queue = queue
      let retry = RetryProcedure(max: 5) { TracedProcedure("attempt", end: .whenToldOrCancelled) }
      queue.add(retry)
      scheduler.run()
      retry.current?.cancel(withErrors: errors)
      scheduler.run()
      #expect(retry.isCancelled && retry.isFinished && retry.count == 1)
      #expect(retry.errors.map { "\($0)" } == errors.map { "Child 'attempt': \($0)" })
    }
  }

  @Test("Z4: the retry's own cancel keeps its own errors")
  func cancelled() {
    let retry = RetryProcedure(max: 5) { TracedProcedure(end: .whenToldOrCancelled) }
    queue.add(retry)
    scheduler.run()
    retry.cancel(withError: TestError("enough"))
    scheduler.run()
    #expect("\(retry.outcome!)" == "cancelled: enough" && retry.count == 1)
  }

  @Test("Z4: waits are on the queue's clock, and stand between attempts")
  func waits() {
    let retry = RetryProcedure(
      max: 4, wait: .exponential(period: .seconds(1)), body: attempts(failing: .max))
    queue.add(retry)
    scheduler.run()
    var counts: [Int] = []
    for _ in 0..<7 {
      counts.append(made.value)
      clock.advance(by: .seconds(1))
      scheduler.run()
    }
    // Each is made when the one before has failed, and executes after the wait.
    #expect(counts == [2, 3, 3, 4, 4, 4, 4] && retry.isFinished)
  }

  @Test("a handler is told of each failure, and may change the next attempt or give up")
  func handler() {
    let queue = queue
    let told = Recorder<String>()
    let (other, configured) = (ResultProcedure { 42 }, Counter())
    let changed = RetryProcedure(
      max: 5, wait: .constant(.seconds(100)), body: attempts(failing: .max)
    ) {
      failure, next in
      told.note("\(failure.count) \(failure.errors) \(failure.procedure.name)")
      var next = next
      next.delay = .seconds(1)
      next.configure = { _ in configured.increment() }
      if failure.count == 2 { next.procedure = other }
      return next
    }
    queue.add(changed)
    for _ in 0..<3 {
      scheduler.run()
      clock.advance(by: .seconds(1))
    }
    #expect(told.events == ["1 [1] attempt", "2 [2] attempt"])
    #expect("\(changed.outcome!)" == "succeeded" && changed.current === other)
    #expect(configured.value == 2)
    let givenUp = RetryProcedure(body: attempts(failing: .max)) { _, _ in nil }
    queue.add(givenUp)
    scheduler.run()
    #expect(givenUp.count == 1 && "\(givenUp.outcome!)".hasPrefix("failed: Child 'attempt'"))
  }

  @Test("G7: an override that deals with a failure ends the retry; it need not call super")
  func override() {
    final class Lenient: RetryProcedure<ResultProcedure<Int>>, @unchecked Sendable {
      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] {
        "\(errors)".contains("2") ? [] : errors
      }
    }
    let retry = Lenient(max: 5, body: attempts(failing: .max))
    queue.add(retry)
    scheduler.run()
    #expect("\(retry.outcome!)" == "succeeded" && retry.count == 2)
  }

  @Test("T1: the next attempt is made in the retry's turn, apart from its observers")
  func turns() async {
    let (inside, highest) = (Counter(), Counter())
    @Sendable func enter() {
      if inside.increment() > 1 { highest.increment() }
      inside.decrement()
    }
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let retry = RetryProcedure(max: 20) {
        enter()
        return TracedProcedure(failure: TestError("e"))
      } retry: { _, next in
        enter()
        return next
      }
      retry.addDidCancelBlockObserver { _, _ in enter() }
      queue.add(retry)
      await race({ retry.cancel() })
      _ = await retry.waitUntilFinished()
    }
    #expect(highest.value == 0)
  }

  @Test("without an attempt to make it ends with the errors of the last")
  func noMore() {
    let made = Counter()
    let retry = RetryProcedure {
      made.increment() > 2 ? nil : TracedProcedure("\(made.value)", failure: TestError("e"))
    }
    queue.add(retry)
    scheduler.run()
    #expect("\(retry.outcome!)" == "failed: Child '2': e")
  }

  @Test("Z2: a timeout of the whole counts over all attempts")
  func timeout() {
    let retry = RetryProcedure(wait: .constant(.seconds(2)), body: attempts(failing: .max))
    retry.timeout(after: .seconds(5))
    queue.add(retry)
    for _ in 0..<6 {
      scheduler.run()
      clock.advance(by: .seconds(1))
    }
    scheduler.run()
    #expect(retry.isFinished && retry.isCancelled && clock.pendingCount == 0)
    guard case .timedOut? = retry.errors.first as? ProcedureError else {
      Issue.record("\(retry.errors)")
      return
    }
  }

  @Test("F4: a retry that has finished goes, with its handler and its attempts")
  func memory() {
    let released = Counter()
    weak var retry: RetryProcedure<ResultProcedure<Int>>?
    do {
      let tracker = Tracker { released.increment() }
      let strong = RetryProcedure(max: 3, body: attempts(failing: 1)) { _, next in
        withExtendedLifetime(tracker) {}
        return next
      }
      retry = strong
      queue.add(strong)
      scheduler.run()
      #expect(strong.isFinished)
    }
    #expect(released.value == 1 && retry == nil)
  }
}
