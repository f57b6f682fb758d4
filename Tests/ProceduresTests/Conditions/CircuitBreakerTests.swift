import Procedures
import ProcedureTestSupport
import ProceduresTesting
import Testing

@Suite(.hangLimit) struct CircuitBreakerTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let breaker = CircuitBreaker(named: "search", after: 3, pause: .seconds(30))

  private func makeQueue(_ limit: Int = .max) -> ProcedureQueue {
    ProcedureQueue(maxConcurrentProcedureCount: limit, scheduler: scheduler, clock: clock.clock)
  }

  private func call(_ breaker: CircuitBreaker? = nil) -> TracedProcedure {
    let call = TracedProcedure("call", end: .whenToldOrCancelled)
    call.add(condition: breaker ?? self.breaker)
    return call
  }

  /// Adds a call, and ends it if it was started.
  @discardableResult
  private func run(
    _ error: (any Error)? = nil, with breaker: CircuitBreaker? = nil
  ) -> TracedProcedure {
    let call = call(breaker)
    makeQueue().add(call)
    scheduler.run()
    call.finish(withError: error)
    scheduler.run()
    return call
  }

  private func fail(_ count: Int) {
    for _ in 0..<count { run(TestError("down")) }
  }

  @Test("D6: three failures in a row open it, and a success in between begins the count anew")
  func opens() {
    fail(2)
    run()
    fail(2)
    #expect(breaker.state == .closed)
    fail(1)
    #expect(breaker.state == .open)
    let refused = run()
    #expect((refused.errors.first as? ProcedureError)?.code == .circuitOpen)
    #expect(
      "\(refused.errors[0])"
        == "'call' was not started: 'search' has failed 3 times in a row. Try again in 30 s.")
    #expect(
      refused.outcome?.isCancelled == true
        && refused.trace.events.allSatisfy { $0 != "call execute" })
  }

  @Test("D6: after the pause one of many callers is the trial, and its success closes it")
  func trialSucceeds() {
    fail(3)
    clock.advance(by: .seconds(30))
    #expect(breaker.state == .open)
    let calls = (0..<5).map { _ in call() }
    makeQueue().add(calls)
    scheduler.run()
    #expect(calls.count(where: \.isExecuting) == 1 && breaker.state == .halfOpen)
    #expect(
      calls.compactMap(\.errors.first).map { "\($0)" }.first
        == "'call' was not started: 'search' has failed 3 times in a row. "
        + "Try again when the trial under way has succeeded.")
    calls.first(where: \.isExecuting)?.finish()
    scheduler.run()
    #expect(breaker.state == .closed)
    fail(2)
    #expect(breaker.state == .closed)
  }

  @Test("D6: a trial that fails opens it for another pause")
  func trialFails() {
    fail(3)
    clock.advance(by: .seconds(30))
    fail(1)
    #expect(breaker.state == .open)
    clock.advance(by: .seconds(29))
    #expect(run().isCancelled)
    clock.advance(by: .seconds(1))
    #expect(!run().isCancelled && breaker.state == .closed)
  }

  @Test(
    "D6: a trial that ends without having executed leaves the trial to the next",
    arguments: [false, true])
  func trialIsLost(executes: Bool) {
    fail(3)
    clock.advance(by: .seconds(30))
    let queue = makeQueue(1)
    let blocker = TracedProcedure("blocker", end: .whenTold)
    if !executes { queue.add(blocker) }
    let trial = call()
    queue.add(trial)
    scheduler.run()
    #expect(trial.isExecuting == executes && breaker.state == .halfOpen)
    // An error of a group's says nothing about the service either.
    trial.cancel(withErrors: executes ? [] : [TestError("left")])
    scheduler.run()
    #expect(trial.isFinished && breaker.state == .open)
    #expect(!run().isCancelled && breaker.state == .closed)
    blocker.finish()
    scheduler.run()
  }

  @Test("D6: procedures that were let in before it opened say nothing about it")
  func late() {
    let (early, other) = (call(), call())
    makeQueue().add(early, other)
    scheduler.run()
    fail(3)
    early.finish()
    scheduler.run()
    #expect(breaker.state == .open)
    clock.advance(by: .seconds(30))
    let trial = call()
    makeQueue().add(trial)
    scheduler.run()
    other.finish(withError: TestError("late"))
    scheduler.run()
    #expect(breaker.state == .halfOpen)
    trial.finish()
    scheduler.run()
    #expect(breaker.state == .closed)
  }

  @Test("D6: a time-out is a failure; a cancel without errors, and the group's, are none")
  func meanings() {
    let breaker = CircuitBreaker(named: "search", after: 1, pause: .seconds(30))
    let (cancelled, child, slow) = (call(breaker), call(breaker), call(breaker))
    let group = GroupProcedure(child)
    makeQueue().add(cancelled, group)
    scheduler.run()
    cancelled.cancel()
    group.cancel(withError: TestError("the screen has gone"))
    scheduler.run()
    #expect(breaker.state == .closed && group.isFinished)
    slow.timeout(after: .seconds(5))
    makeQueue().add(slow)
    scheduler.run()
    clock.advance(by: .seconds(5))
    scheduler.run()
    #expect(breaker.state == .open)
  }

  @Test("D6: an error that is no failure to you counts as a success")
  func isFailure() {
    let breaker = CircuitBreaker(named: "search", after: 2, pause: .seconds(30)) {
      ($0 as? TestError) != TestError("missing")
    }
    for error in ["down", "missing", "down", "missing"] {
      run(TestError(error), with: breaker)
    }
    #expect(breaker.state == .closed)
    run(TestError("down"), with: breaker)
    run(TestError("down"), with: breaker)
    #expect(breaker.state == .open)
  }

  @Test("D6, D1: one that is evaluated again is still let in, and counts once")
  func evaluatedAgain() {
    let breaker = CircuitBreaker(named: "search", after: 2, pause: .seconds(30))
    let (queue, procedure, dependency) = (makeQueue(1), call(breaker), TracedProcedure("d"))
    let blocker = TracedProcedure("blocker", end: .whenTold)
    queue.add(blocker, procedure)
    scheduler.run()
    procedure.add(dependency: dependency)
    makeQueue().add(dependency)
    scheduler.run()
    blocker.finish()
    scheduler.run()
    procedure.finish(withError: TestError("down"))
    scheduler.run()
    #expect(breaker.state == .closed)
    run(TestError("down"), with: breaker)
    #expect(breaker.state == .open)
  }

  @Test("D6: attempts of a retry count one by one, and it outlasts the pause")
  func retry() throws {
    let simulation = ProcedureSimulation(seed: 1)
    let calls = Counter()
    try simulation.run { simulation in
      let breaker = CircuitBreaker(named: "search", after: 2, pause: .seconds(30))
      let retry = RetryProcedure(wait: .constant(.seconds(10))) {
        let attempt = BlockProcedure {
          if calls.increment() < 4 { throw TestError("down") }
        }
        attempt.add(condition: breaker)
        return attempt
      }
      retry.addDidFinishBlockObserver { retry, _ in #expect(retry.outcome == .succeeded) }
      simulation.makeQueue().add(retry)
    }
    // At 0 and 10, then the trials at 40 and 70.
    #expect(calls.value == 4 && simulation.elapsed == .seconds(70))
  }

  @Test("D6: one of several callers at one moment is the trial")
  func race() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let breaker = CircuitBreaker(named: "search", after: 1, pause: .zero)
      let failing = BlockProcedure { throw TestError("down") }
      failing.add(condition: breaker)
      _ = await queue.run(failing)
      let (gate, executions) = (Gate(), Counter())
      let calls = (0..<8).map { _ in
        let call = AsyncProcedure {
          executions.increment()
          await gate.wait()
        }
        call.add(condition: breaker)
        return call
      }
      queue.add(calls)
      #expect(await eventually { calls.count(where: \.isFinished) == 7 })
      #expect(await eventually { executions.value == 1 })
      gate.open()
      await queue.waitUntilAllFinished()
      #expect(breaker.state == .closed && executions.value == 1)
    }
  }
}
