import Cancellation
import ProcedurePrimitives
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
    for (policy, count) in [(LatePolicy.skip, 0), (.catchUp, 59)] {
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

  /// Keeps a repeat every 50 ms from its starts between 120 and 330 ms.
  enum Hindrance: CaseIterable { case suspension, suspendedQueue, takenSlot, category }

  private func starts(
    whenLate policy: LatePolicy, from begin: Int = 120, to end: Int = 330,
    hinderedBy hindrance: Hindrance
  ) throws -> [Int] {
    let starts = Recorder<Int>()
    let simulation = ProcedureSimulation(seed: 1)
    try simulation.run { simulation in
      let queue = simulation.makeQueue(maxConcurrentProcedureCount: 1)
      let category = ExclusionCategory(named: "sensor", in: ExclusionDomain(name: "test"))
      let polling = RepeatProcedure(max: 7, every: .milliseconds(50), whenLate: policy) {
        let attempt = BlockProcedure { starts.note(Int(simulation.elapsed / .milliseconds(1))) }
        if hindrance == .category { attempt.add(condition: AtMost(1, of: category)) }
        return attempt
      }
      polling.keepsSlotWhileWaiting = hindrance == .suspension || hindrance == .category
      queue.add(polling)
      let other = DelayProcedure(by: .milliseconds(end - begin))
      simulation.perform(after: .milliseconds(begin)) {
        switch hindrance {
        case .suspension: polling.isSuspended = true
        case .suspendedQueue: queue.isSuspended = true
        case .takenSlot: queue.add(other)
        case .category:
          other.add(condition: AtMost(1, of: category))
          simulation.makeQueue().add(other)
        }
      }
      simulation.perform(after: .milliseconds(end)) {
        (polling.isSuspended, queue.isSuspended) = (false, false)
      }
    }
    return starts.events
  }

  @Test(
    "Z5: starts in a suspension, or without a slot, are left out; the next is with the period",
    arguments: [Hindrance.suspension, .suspendedQueue, .takenSlot])
  func hindered(by hindrance: Hindrance) throws {
    #expect(
      try starts(whenLate: .skip, hinderedBy: hindrance) == [0, 50, 100, 350, 400, 450, 500])
    // It ends with the period, or a little later than a start, or much later.
    #expect(
      try starts(whenLate: .skip, to: 350, hinderedBy: hindrance)
        == [0, 50, 100, 350, 400, 450, 500])
    #expect(
      try starts(whenLate: .skip, to: 160, hinderedBy: hindrance)
        == [0, 50, 100, 200, 250, 300, 350])
    #expect(
      try starts(whenLate: .skip, to: 140, hinderedBy: hindrance)
        == [0, 50, 100, 150, 200, 250, 300])
    #expect(
      try starts(whenLate: .catchUp, hinderedBy: hindrance)
        == [0, 50, 100, 330, 330, 330, 330])
  }

  @Test("Z5: an attempt whose category is taken starts late; the next is with the period")
  func category() throws {
    #expect(
      try starts(whenLate: .skip, hinderedBy: .category) == [0, 50, 100, 330, 350, 400, 450])
  }

  @Test("Z5: the period counts from the first attempt, also if that was suspended")
  func suspendedFirst() throws {
    let starts = Recorder<Int>()
    try ProcedureSimulation(seed: 1).run { simulation in
      let polling = RepeatProcedure(max: 3, every: .milliseconds(50)) {
        BlockProcedure { starts.note(Int(simulation.elapsed / .milliseconds(1))) }
      }
      polling.isSuspended = true
      simulation.makeQueue().add(polling)
      simulation.perform(after: .milliseconds(330)) { polling.isSuspended = false }
    }
    #expect(starts.events == [330, 380, 430])
  }

  @Test("Z5: starts while the machine sleeps are left out, and the next is with the period")
  func asleep() {
    let (clock, scheduler) = (SleepingClock(), ManualScheduler())
    let queue = ProcedureQueue(scheduler: scheduler, clock: TimerClock(service: clock))
    let attempts = Counter()
    let polling = RepeatProcedure(every: .seconds(60)) { BlockProcedure { attempts.increment() } }
    queue.add(polling)
    scheduler.run()
    clock.sleep(for: 3590)
    scheduler.run()
    #expect(attempts.value == 1)
    clock.sleep(for: 10)
    scheduler.run()
    #expect(attempts.value == 2)
    // A timer that is always late by more than a period stops nothing: each start is put off once.
    for count in 1...3 {
      clock.sleep(for: 3607)
      scheduler.run()
      clock.sleep(for: 3607)
      scheduler.run()
      #expect(attempts.value == 2 + count)
    }
    polling.cancel()
    scheduler.run()
    #expect(polling.isFinished)
  }

  /// A clock whose timers are late when it has slept: they fire at its present time.
  private final class SleepingClock: TimerService {
    private struct State: Sendable {
      var now = ContinuousClock.now
      var serial: UInt32 = 0
      var timers: [UInt32: (target: any TimerTarget, deadline: ContinuousClock.Instant)] = [:]
    }

    private let state = Locked(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey {
      state.withLock { state in
        state.serial += 1
        state.timers[state.serial] = (target, deadline)
        return SlabKey(place: state.serial, serial: 1)
      }
    }

    func cancel(_ key: SlabKey) -> Bool {
      state.withLock { $0.timers.removeValue(forKey: UInt32(key.place)) != nil }
    }

    func deliver(_ work: @escaping @Sendable () -> Void) { work() }

    func sleep(for seconds: Int) {
      let targets = state.withLock { state in
        state.now = state.now.advanced(by: .seconds(seconds))
        let due = state.timers.filter { $0.value.deadline <= state.now }
        for key in due.keys { state.timers[key] = nil }
        return due.values.map(\.target)
      }
      for target in targets { target.timerFired() }
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
