import Dispatch
import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// Z1, Z2, C9, K10: every duration is accepted, on a clock that is older than a second.
@Suite(.hangLimit) struct ExtremeDurationTests {
  static let neverPassing: [Duration] = [
    .seconds(Int64.max), .seconds(1e19), Duration(attoseconds: .max), WaitStrategy.unlimited,
  ]
  static let passed: [Duration] = [
    .seconds(Int64.min), .seconds(-1e19), Duration(attoseconds: .min), .zero,
  ]

  private static func agedClock() -> TestClock {
    let time = TestClock()
    time.advance(by: .seconds(5))
    return time
  }

  @Test(
    "Z1, Z2: an endless delay, timeout or grace period stops nothing",
    arguments: neverPassing)
  func endless(duration: Duration) async throws {
    for clock in [Self.agedClock().clock, .continuous] {
      let queue = ProcedureQueue(clock: clock)
      queue.cancellationGracePeriod = duration
      queue.waitReportDelay = duration
      let delay = DelayProcedure(by: duration).timeout(after: duration)
      let executes = Gate()
      delay.addDidExecuteBlockObserver { _ in executes.open() }
      let lingering = ManualProcedure(endsWhenCancelled: false)
      queue.add(delay, lingering)
      await executes.wait()
      try await lingering.executing(within: duration)
      lingering.cancel()
      #expect(!delay.isFinished && !delay.isCancelled)
      delay.cancel()
      lingering.finish()
      _ = try await delay.finished(within: duration)
      _ = try await lingering.finished(within: duration)
    }
  }

  @Test(
    "Z1, Z2: a delay in the past is over, a timeout in the past cancels at once", arguments: passed)
  func past(duration: Duration) async {
    for clock in [Self.agedClock().clock, .continuous] {
      let queue = ProcedureQueue(clock: clock)
      let delay = DelayProcedure(by: duration)
      _ = await queue.run(delay)
      #expect(delay.isFinished && !delay.isCancelled)
      let timedOut = ManualProcedure().timeout(after: duration)
      _ = await queue.run(timedOut)
      #expect(timedOut.isCancelled)
    }
  }

  @Test("Z4: waits without an end do not come to one", arguments: neverPassing)
  func waits(duration: Duration) {
    let strategies: [WaitStrategy] = [
      .constant(duration), .incrementing(initial: duration, increment: duration, maximum: duration),
      .exponential(power: 1e300, period: duration, maximum: duration),
      .fibonacci(period: duration, maximum: duration),
      .random(minimum: duration, maximum: duration),
      .random(minimum: .zero - duration, maximum: duration),
    ]
    for strategy in strategies {
      for strategy in [strategy, strategy.jittered(), strategy.jittered(by: .nan)] {
        var iterator = strategy.makeIterator()
        for _ in 0..<100 {
          let interval = iterator.next()
          #expect(interval.map { $0 >= .zero && $0 <= duration } == true)
        }
      }
    }
  }

  @Test(
    "Z2, K10: with all threads of the global queues spinning until then, a timeout reads cancelled")
  func starvation() async {
    await #expect(processExitsWith: .success) {
      let queue = ProcedureQueue()
      let (executes, procedure) = (Gate(), ManualProcedure(endsWhenCancelled: false))
      let token = procedure.cancellationToken
      procedure.addDidExecuteBlockObserver { _ in executes.open() }
      let inner = ManualProcedure(endsWhenCancelled: false)
      let innerExecutes = Gate()
      inner.addDidExecuteBlockObserver { _ in innerExecutes.open() }
      let group = GroupProcedure(children: [inner])
      queue.add(procedure, group)
      executes.block()
      innerExecutes.block()
      // They count from now.
      procedure.timeout(after: .milliseconds(300))
      group.timeout(after: .milliseconds(300))
      let isOver: @Sendable () -> Bool = {
        procedure.isCancelled && token.isCancelled && group.isCancelled && inner.isCancelled
      }
      for _ in 0..<300 { DispatchQueue.global().async { while !isOver() {} } }
      let end = ContinuousClock.now.advanced(by: .seconds(1_200))
      while !isOver() { precondition(ContinuousClock.now < end, "not cancelled in time") }
      procedure.finish()
      inner.finish()
      _ = await procedure.waitUntilFinished()
      _ = await group.waitUntilFinished()
    }
  }
}
