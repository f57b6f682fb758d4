import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct RetryProcedureTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let made = Counter()
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(scheduler: scheduler, clock: clock.clock)
  }

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

  @Test("a success ends a retry, drops earlier errors, and hands on its output")
  func success() {
    let queue = makeQueue()
    let retry = RetryProcedure(max: 5, body: attempts(failing: 2))
    let after = IdentityProcedure<Int>().injectResult(from: retry)
    queue.add(retry, after)
    scheduler.run()
    #expect(retry.outcome == .succeeded)
    #expect(retry.count == 3 && after.input == 3)
    let first = RetryProcedure(max: 5, body: attempts(failing: 0))
    queue.add(first)
    scheduler.run()
    #expect(first.count == 1)
  }

  @Test("Z4: without a further attempt it fails with the errors of the last")
  func failure() {
    let queue = makeQueue()
    let retry = RetryProcedure(max: 3, body: attempts(failing: .max))
    queue.add(retry)
    scheduler.run()
    #expect(retry.outcome == .failed([TestError("3")]))
    #expect(retry.count == 3)
    #expect(throws: TestError("3")) { try retry.output?.get() }
  }

  @Test("Z4: a retry without an attempt fails, and says what to do; so do those that wait for it")
  func noAttempt() {
    let queue = makeQueue()
    let none: [RetryProcedure<ResultProcedure<Int>>] = [
      RetryProcedure(name: "a", max: 0, body: attempts(failing: 0)),
      RetryProcedure(name: "a", max: -1, body: attempts(failing: 0)),
      RetryProcedure(name: "a") { () -> ResultProcedure<Int>? in nil },
      RetryProcedure(name: "a", iterator: NoAttempts()),
    ]
    for retry in none {
      let after = IdentityProcedure<Int>().injectResult(from: retry)
      queue.add(retry, after)
      scheduler.run()
      #expect(retry.outcome == .failed([ProcedureError(.notAttempted, procedure: "a")]))
      #expect(retry.count == 0 && retry.output == nil)
      #expect((after.errors.first as? ProcedureError)?.code == .dependencyFailed)
    }
    #expect(
      none[0].errors.first.map { "\($0)" }
        == "'a' made no attempt: give it a max of 1 or more, and return an attempt the first time that "
        + "one is asked for.")
    let cancelled = RetryProcedure(max: 0, body: attempts(failing: 0))
    cancelled.addWillExecuteBlockObserver { retry, _ in retry.cancel() }
    queue.add(cancelled)
    scheduler.run()
    #expect(cancelled.outcome == .cancelled([]))
    let repeated = RepeatProcedure(max: 0, body: attempts(failing: 0))
    queue.add(repeated)
    scheduler.run()
    #expect(repeated.outcome == .succeeded && repeated.count == 0)
  }

  private struct NoAttempts: IteratorProtocol, Sendable {
    mutating func next() -> RepeatProcedurePayload<ResultProcedure<Int>>? { nil }
  }

  /// How an attempt ends.
  private enum End: CaseIterable {
    case fails, timesOut, passesItsDeadline, condition, requirement, cancelledWithError
    case cancelled, ignored, succeeds

    var isTriedAgain: Bool { self != .succeeds && !endsAsCancelled }
    var endsAsCancelled: Bool { self == .cancelled || self == .ignored }

    var code: ProcedureError.Code? {
      switch self {
      case .timesOut: .timedOut
      case .passesItsDeadline: .deadlineExceeded
      case .condition: .conditionFailed
      case .requirement: .dependencyFailed
      case .fails, .cancelledWithError, .cancelled, .ignored, .succeeds: nil
      }
    }

    func make(_ failed: Procedure) -> Procedure {
      let endless = TracedProcedure("endless", end: .whenToldOrCancelled)
      switch self {
      case .fails:
        return BlockProcedure { throw TestError("fails") }
      case .timesOut:
        return endless.timeout(after: .seconds(1))
      case .passesItsDeadline:
        let source = CancellationTokenSource()
        endless.cancel(when: source.token)
        endless.addDidExecuteBlockObserver { _ in source.cancel(.deadlineExceeded) }
        return endless
      case .condition:
        endless.add(condition: NotCondition(BlockCondition { true }))
        return endless
      case .requirement:
        endless.add(dependency: failed, requiring: .success)
        return endless
      case .cancelledWithError:
        return BlockProcedure { $0.cancel(withError: TestError("cancelledWithError")) }
      case .cancelled:
        return BlockProcedure { $0.cancel() }
      case .ignored:
        endless.add(condition: BlockCondition { false })
        return endless
      case .succeeds:
        return BlockProcedure {}
      }
    }
  }

  @Test("Z4: each end of an attempt, after each other, is tried again or ends the retry")
  func sequences() {
    let failed = BlockProcedure { throw TestError("requirement") }
    makeQueue().add(failed)
    scheduler.run()
    for first in End.allCases {
      for second in End.allCases {
        for third in End.allCases {
          let (queue, made, clock) = (makeQueue(), Counter(), clock)
          let seen = Recorder<ProcedureError.Code?>()
          let ends = [first, second, third]
          let retry = RetryProcedure(max: 3, wait: .constant(.seconds(2))) {
            ends[made.increment() - 1].make(failed)
          } retry: { failure, next in
            seen.note((failure.errors[0] as? ProcedureError)?.code)
            return next
          }
          queue.add(retry)
          for _ in 0..<12 {
            scheduler.run()
            clock.advance(by: .seconds(1))
          }
          scheduler.run()
          let count = ends.firstIndex { !$0.isTriedAgain }.map { $0 + 1 } ?? 3
          let last = ends[count - 1]
          #expect(retry.isFinished && retry.count == count, "\(ends)")
          #expect(seen.events == ends.prefix(min(count - 1, 2)).map(\.code), "\(ends)")
          #expect(retry.isCancelled == last.endsAsCancelled, "\(ends)")
          #expect(retry.errors.count == (last.isTriedAgain ? 1 : 0), "\(ends) \(retry.errors)")
          #expect((retry.errors.first as? ProcedureError)?.code == last.code, "\(ends)")
        }
      }
    }
  }

  @Test("Z4: an attempt that finishes with errors after a cancel without any is tried again")
  func cancelledAndFailed() {
    let queue = makeQueue()
    let made = Counter()
    let retry = RetryProcedure(max: 2) {
      let number = made.increment()
      return BlockProcedure { attempt in
        attempt.cancel()
        throw TestError("\(number)")
      }
    }
    queue.add(retry)
    scheduler.run()
    #expect(retry.outcome == .failed([TestError("2")]))
  }

  @Test("Z4: a cancel of the whole ends a retry as cancelled, and the last failed attempt says why")
  func cancelledWhileWaiting() {
    let queue = makeQueue()
    let retry = RetryProcedure(
      wait: .constant(.seconds(10)), body: attempts(failing: .max))
    retry.timeout(after: .seconds(15))
    queue.add(retry)
    for _ in 0..<16 {
      scheduler.run()
      clock.advance(by: .seconds(1))
    }
    scheduler.run()
    #expect(
      retry.isCancelled && retry.errors.count == 2
        && retry.errors.last as? TestError == TestError("2"))
    #expect((retry.errors.first as? ProcedureError)?.code == .timedOut)
  }

  @Test("E2: the whole ends with the error of the last attempt, catchable by its own type")
  func transparent() async {
    struct HTTP: Error, Equatable { let status: Int }
    let queue = ProcedureQueue()
    let made = Counter()
    let retry = RetryProcedure(max: 2) {
      ResultProcedure<Int> { throw HTTP(status: 500 + made.increment()) }
    }
    await #expect(throws: HTTP(status: 502)) { try await queue.value(of: retry) }
    #expect(retry.outcome == .failed([HTTP(status: 502)]))
    let nested = RetryProcedure(max: 2) {
      RetryProcedure(max: 2) {
        ComposedProcedure(ResultProcedure<Int> { throw HTTP(status: 500 + made.increment()) })
      }
    }
    await #expect(throws: HTTP(status: 506)) { try await queue.value(of: nested) }
  }

  /// An error that is counted while it is there.
  private final class CountedError: Error, Sendable {
    let live: Counter
    init(_ live: Counter) {
      self.live = live
      live.increment()
    }
    deinit { live.decrement() }
  }

  @Test("Z4: an endless retry keeps the errors of its last attempts, not all")
  func flat() {
    let (made, live) = (Counter(), Counter())
    let count = Rounds.size(100_000, otherwise: 1_000)
    let retry = RetryProcedure {
      BlockProcedure {
        guard made.increment() <= count else { return }
        throw CountedError(live)
      }
    }
    let repeated = RepeatProcedure(max: count) { BlockProcedure { throw CountedError(live) } }
    let queue = makeQueue()
    queue.add(retry)
    queue.add(repeated)
    scheduler.run()
    #expect(retry.outcome == .succeeded)
    #expect(retry.count == count + 1)
    #expect(repeated.errors.count == 1)
    #expect(live.highest <= 8)
  }

  @Test("the compiler finds the attempt's type in a closure of several statements")
  func severalStatements() {
    final class Fetch: Procedure, @unchecked Sendable {
      override func execute() { finish() }
    }
    let retry = RetryProcedure(max: 3) {
      let fetch = Fetch()
      fetch.name = "fetch"
      return fetch
    }
    let repeated = RepeatProcedure(name: "polls", max: 2) {
      let fetch = Fetch()
      fetch.name = "fetch"
      return fetch
    }
    let ends = RetryProcedure(name: "ends") { () -> Fetch? in
      let fetch = Fetch()
      if fetch.name.isEmpty { return nil }
      return fetch
    } retry: { _, next in
      next
    }
    let isWanted = true
    let short = RepeatProcedure(max: 1) { isWanted ? Fetch() : nil }
    let attempts: [Fetch?] = [retry.current, repeated.current, ends.current, short.current]
    #expect(attempts.allSatisfy { $0 == nil } && repeated.name == "polls" && ends.name == "ends")
  }

  @Test("Z4: the retry's own cancel keeps its own errors")
  func cancelled() {
    let retry = RetryProcedure(max: 5) { TracedProcedure(end: .whenToldOrCancelled) }
    makeQueue().add(retry)
    scheduler.run()
    retry.cancel(withError: TestError("enough"))
    scheduler.run()
    #expect(retry.outcome == .cancelled([TestError("enough")]))
    #expect(retry.count == 1)
  }

  @Test("Z4: waits are on the queue's clock, and stand between attempts")
  func waits() {
    let retry = RetryProcedure(
      max: 4, wait: .exponential(period: .seconds(1)), body: attempts(failing: .max))
    makeQueue().add(retry)
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

  @Test("a handler gets each failure, and may change the next attempt or give up")
  func handler() {
    let queue = makeQueue()
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
    #expect(changed.outcome == .succeeded)
    #expect(changed.current === other)
    #expect(configured.value == 2)
    let givenUp = RetryProcedure(body: attempts(failing: .max)) { _, _ in nil }
    queue.add(givenUp)
    scheduler.run()
    // The attempt that the handler refused has been made.
    #expect(givenUp.count == 1)
    #expect(givenUp.outcome == .failed([TestError("\(made.value - 1)")]))
  }

  @Test("G7: an override that deals with a failure ends the retry; it need not call super")
  func override() {
    final class Lenient: RetryProcedure<ResultProcedure<Int>>, @unchecked Sendable {
      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] {
        errors as? [TestError] == [TestError("2")] ? [] : errors
      }
    }
    let retry = Lenient(max: 5, body: attempts(failing: .max))
    makeQueue().add(retry)
    scheduler.run()
    #expect(retry.outcome == .succeeded)
    #expect(retry.count == 2)
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

  @Test("a retry without a further attempt ends with the errors of the last")
  func noMore() {
    let made = Counter()
    let retry = RetryProcedure {
      made.increment() > 2 ? nil : TracedProcedure("\(made.value)", failure: TestError("e"))
    }
    makeQueue().add(retry)
    scheduler.run()
    #expect(retry.outcome == .failed([TestError("e")]))
  }

  @Test("Z2: a timeout of the whole counts over all attempts")
  func timeout() {
    let retry = RetryProcedure(wait: .constant(.seconds(2)), body: attempts(failing: .max))
    retry.timeout(after: .seconds(5))
    makeQueue().add(retry)
    for _ in 0..<6 {
      scheduler.run()
      clock.advance(by: .seconds(1))
    }
    scheduler.run()
    #expect(retry.isFinished && retry.isCancelled && clock.pendingCount == 0)
    #expect((retry.errors.first as? ProcedureError)?.code == .timedOut)
  }

  @Test("F4: a finished retry is released, with its handler and its attempts")
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
      makeQueue().add(strong)
      scheduler.run()
      #expect(strong.isFinished)
    }
    #expect(released.value == 1 && retry == nil)
  }

  @Test("an attempt that is made twice stops the program, which says what to do instead")
  func sameAttempt() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let same = BlockProcedure(name: "same") { throw TestError("again") }
      let scheduler = ManualScheduler()
      let queue = ProcedureQueue(scheduler: scheduler)
      queue.add(RetryProcedure(name: "retry", max: 3) { same })
      scheduler.run()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("Make a new procedure for each attempt."))
  }
}
