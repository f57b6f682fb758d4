import Procedures
import ProcedureTestSupport
import ProceduresTesting
import Testing

/// `RepeatProcedure(every:)`.
@Suite(.hangLimit) struct AttemptRateTests {
  /// The starts, in milliseconds, of attempts that take so long each.
  private func starts(
    _ lengths: [Int], every period: Int = 50, whenLate policy: LatePolicy,
    keepsSlot: Bool = true
  ) throws -> [Int] {
    let (starts, made) = (Recorder<Int>(), Counter())
    let simulation = ProcedureSimulation(seed: 1)
    try simulation.run { simulation in
      let polling = RepeatProcedure(
        max: lengths.count, every: .milliseconds(period), whenLate: policy
      ) {
        let attempt = LastingProcedure(.milliseconds(lengths[made.increment() - 1]))
        attempt.addWillExecuteBlockObserver { _, _ in
          starts.note(Int(simulation.elapsed / .milliseconds(1)))
        }
        return attempt
      }
      polling.keepsSlotWhileWaiting = keepsSlot
      simulation.makeQueue(maxConcurrentProcedureCount: 1).add(polling)
    }
    return starts.events
  }

  @Test(
    "Z5: attempts start a period apart, whatever they take", arguments: [LatePolicy.skip, .catchUp])
  func period(policy: LatePolicy) throws {
    #expect(try starts([30, 0, 49, 10, 30], whenLate: policy) == [0, 50, 100, 150, 200])
    #expect(
      try starts([30, 0, 49, 10], whenLate: policy, keepsSlot: false) == [0, 50, 100, 150])
  }

  @Test("Z5: missed starts are left out, and the next is with the period")
  func skipping() throws {
    #expect(try starts([120, 10, 10], whenLate: .skip) == [0, 150, 200])
    #expect(try starts([70, 70, 70], whenLate: .skip) == [0, 100, 200])
    // One that is due at this moment is not missed.
    #expect(try starts([50, 100, 10], whenLate: .skip) == [0, 50, 150])
  }

  @Test("Z5: or they are caught up with, one after another")
  func catchingUp() throws {
    #expect(try starts([120, 10, 10, 10, 10], whenLate: .catchUp) == [0, 120, 130, 150, 200])
    #expect(try starts([50, 100, 10, 10], whenLate: .catchUp) == [0, 50, 150, 160])
  }

  @Test("Z5: an hour in which nothing could start is skipped, or has an attempt for each period")
  func sleeping() {
    for (policy, count) in [(LatePolicy.skip, 1), (.catchUp, 59)] {
      let (clock, scheduler) = (TestClock(), ManualScheduler())
      let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
      let attempts = Counter()
      let polling = RepeatProcedure(every: .seconds(60), whenLate: policy) {
        BlockProcedure { attempts.increment() }
      }
      queue.add(polling)
      scheduler.run()
      polling.isSuspended = true
      // The machine sleeps until all timers are late.
      clock.advance(by: .seconds(3590))
      scheduler.run()
      polling.isSuspended = false
      scheduler.run()
      #expect(attempts.value == 1 + count)
      clock.advance(by: .seconds(10))
      scheduler.run()
      #expect(attempts.value == 2 + count)
      polling.cancel()
      scheduler.run()
      #expect(polling.isFinished && clock.pendingCount == 0)
    }
  }

  @Test("Z5: the wait is seen, and a cancel ends it")
  func cancelled() {
    let (clock, scheduler) = (TestClock(), ManualScheduler())
    let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    let polling = RepeatProcedure(every: .milliseconds(50)) { BlockProcedure(name: "poll") {} }
    queue.add(polling)
    scheduler.run()
    #expect("\(queue.snapshot())".contains("'poll' pending: it waits for 'Next of every 50 ms'"))
    polling.cancel()
    scheduler.run()
    #expect(polling.outcome == .cancelled([]))
  }

  @Test("Z5, Z1: the longest period there is, and the shortest")
  func extremes() {
    for period in [Duration.nanoseconds(1), .seconds(Int64.max), Duration(attoseconds: .max)] {
      let (clock, scheduler) = (TestClock(), ManualScheduler())
      let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
      let polling = RepeatProcedure(max: 3, every: period) { BlockProcedure {} }
      queue.add(polling)
      scheduler.run()
      for _ in 0..<3 {
        clock.advance(by: .seconds(1))
        scheduler.run()
      }
      #expect(polling.count == (period < .seconds(1) ? 3 : 2))
      polling.cancel()
      scheduler.run()
      #expect(polling.isFinished)
    }
  }
}
