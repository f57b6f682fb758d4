import ProcedureTestSupport
import ProceduresTesting
import Testing

@testable import Procedures

/// So many starts in an interval.
@Suite(.hangLimit) struct RateLimitTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let domain = ExclusionDomain(name: "rates")
  private var category: ExclusionCategory { ExclusionCategory(named: "x", in: domain) }

  private func makeQueue(_ limit: Int = .max) -> ProcedureQueue {
    ProcedureQueue(
      maxConcurrentProcedureCount: limit, scheduler: scheduler, clock: clock.clock)
  }

  private func limited(
    _ name: String, _ count: Int, per interval: Duration = .seconds(1)
  ) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: .whenToldOrCancelled)
    procedure.add(condition: RateLimit(count, per: interval, of: category))
    return procedure
  }

  private func pass(_ duration: Duration) {
    clock.advance(by: duration)
    scheduler.run()
  }

  private func executing(_ procedures: [TracedProcedure]) -> [String] {
    scheduler.run()
    return procedures.filter(\.isExecuting).map(\.name)
  }

  private func finish(_ procedures: [TracedProcedure]) {
    for procedure in procedures { procedure.finish() }
    scheduler.run()
  }

  @Test(
    "as many procedures start at once as the rate allows, the next when the first start is an interval old"
  )
  func order() {
    let queues = [makeQueue(), makeQueue()]
    let procedures = (0..<5).map { limited("\($0)", 2) }
    queues[0].add(procedures[0])
    #expect(executing(procedures) == ["0"] && clock.pendingCount == 0)
    pass(.milliseconds(400))
    for (index, procedure) in procedures.dropFirst().enumerated() {
      queues[index % 2].add(index == 2 ? GroupProcedure(procedure) : procedure)
      scheduler.run()
    }
    #expect(executing(procedures) == ["0", "1"])
    pass(.milliseconds(599))
    #expect(executing(procedures) == ["0", "1"])
    // That they go on, or have ended, makes no difference.
    procedures[1].finish()
    pass(.milliseconds(1))
    #expect(executing(procedures) == ["0", "2"])
    pass(.milliseconds(400))
    #expect(executing(procedures) == ["0", "2", "3"])
    pass(.milliseconds(600))
    #expect(executing(procedures) == ["0", "2", "3", "4"])
    #expect(clock.pendingCount == 0)
    finish(procedures)
  }

  @Test(
    "no interval has more starts than the rate allows, with places, slots and priorities, and none is wasted",
    arguments: 0..<(Rounds.isStress ? 20 : 10))
  func random(seed: UInt64) throws {
    let (count, places, number) = (3, 2, 60)
    let starts = Recorder<ContinuousClock.Instant>()
    let running = Counter()
    let most = Slot<Int>()
    let simulation = ProcedureSimulation(seed: seed)
    try simulation.run { simulation in
      let queues = [4, 2].map { simulation.makeQueue(maxConcurrentProcedureCount: $0) }
      let clock = queues[0].clock
      for index in 0..<number {
        let work = DelayProcedure(by: .milliseconds(Int64(seed) * 7 % 900 + Int64(index % 5) * 20))
        if index % 3 == 0 { work.priority = .high }
        work.add(condition: RateLimit(count, per: .seconds(1), of: category))
        work.add(condition: AtMost(places, of: category))
        work.addWillExecuteBlockObserver { _, _ in
          starts.note(clock.now)
          running.increment()
          most.value = max(most.value ?? 0, running.value)
        }
        work.addWillFinishBlockObserver { _, _, _ in running.decrement() }
        queues[index % 2].add(work)
      }
    }
    let instants = starts.events.sorted()
    #expect(instants.count == number && most.value! <= places)
    for (first, next) in zip(instants, instants.dropFirst(count)) {
      #expect(first.duration(to: next) >= .seconds(1))
    }
    if seed == 0 {
      // Short ones: twenty seconds for sixty, and no more.
      #expect(instants[0].duration(to: instants[number - 1]) < .seconds(20))
    }
  }

  @Test("procedures that have waited for a place do not start in a burst")
  func behindPlaces() {
    let queue = makeQueue()
    let holder = TracedProcedure("holder", end: .whenToldOrCancelled)
    holder.add(condition: AtMost(1, of: category))
    queue.add(holder)
    let procedures = (0..<3).map { limited("\($0)", 1) }
    for procedure in procedures { procedure.add(condition: AtMost(3, of: category)) }
    queue.add(procedures)
    #expect(executing(procedures).isEmpty)
    pass(.seconds(60))
    holder.finish()
    #expect(executing(procedures) == ["0"])
    pass(.milliseconds(999))
    #expect(executing(procedures) == ["0"])
    pass(.milliseconds(1))
    #expect(executing(procedures) == ["0", "1"])
    pass(.seconds(1))
    #expect(executing(procedures) == ["0", "1", "2"])
    finish(procedures)
  }

  @Test("a start that a procedure has no slot for goes to another queue's")
  func declined() {
    let (narrow, wide) = (makeQueue(1), makeQueue())
    let procedures = [limited("first", 1), limited("narrow", 1), limited("wide", 1)]
    wide.add(procedures[0])
    scheduler.run()
    narrow.add(procedures[1])
    scheduler.run()
    wide.add(procedures[2])
    scheduler.run()
    let other = TracedProcedure("other", end: .whenToldOrCancelled)
    narrow.add(other)
    #expect(executing(procedures + [other]) == ["first", "other"])
    pass(.seconds(1))
    #expect(executing(procedures) == ["first", "wide"])
    other.finish()
    #expect(executing(procedures) == ["first", "wide"])
    pass(.seconds(1))
    #expect(executing(procedures) == ["first", "narrow", "wide"])
    finish(procedures)
  }

  @Test("a cancelled procedure leaves the line, and the clock sets no timer for it")
  func cancelled() {
    let queue = makeQueue()
    let procedures = [limited("first", 1), limited("second", 1)]
    queue.add(procedures)
    #expect(executing(procedures) == ["first"] && clock.pendingCount == 1)
    procedures[1].cancel()
    scheduler.run()
    #expect(procedures[1].isFinished && clock.pendingCount == 0)
    procedures[0].finish()
    scheduler.run()
  }

  @Test("two intervals of one rate are both kept; equal ones are one, with the lower count")
  func intervals() {
    let queue = makeQueue()
    let procedures = (0..<4).map { limited("\($0)", 2) }
    for procedure in procedures {
      procedure.add(condition: RateLimit(3, per: .seconds(60), of: category))
      procedure.add(condition: RateLimit(9, per: .seconds(1), of: category))
    }
    queue.add(procedures)
    #expect(executing(procedures) == ["0", "1"])
    pass(.seconds(1))
    #expect(executing(procedures) == ["0", "1", "2"])
    pass(.seconds(58))
    #expect(executing(procedures) == ["0", "1", "2"])
    pass(.seconds(1))
    #expect(executing(procedures) == ["0", "1", "2", "3"])
    finish(procedures)
  }

  @Test("a pause of a rate keeps all back until its end; the pause that ends later counts")
  func pause() {
    let queue = makeQueue()
    let rate = RateLimit(2, per: .seconds(1), of: category)
    rate.pause(for: .seconds(10), clock: clock.clock)
    let procedures = (0..<3).map { limited("\($0)", 2) }
    queue.add(procedures)
    #expect(executing(procedures).isEmpty)
    rate.pause(for: .seconds(5))
    pass(.seconds(9))
    #expect(executing(procedures).isEmpty)
    #expect(
      queue.snapshot().description.contains(
        "it waits for rate 'x' (2 in 1 s), paused for 1 second more"),
      "\(queue.snapshot())")
    pass(.seconds(1))
    #expect(executing(procedures) == ["0", "1"])
    // While one waits, too.
    rate.pause(for: .seconds(3))
    pass(.milliseconds(2_999))
    #expect(executing(procedures) == ["0", "1"])
    pass(.milliseconds(1))
    #expect(executing(procedures) == ["0", "1", "2"])
    finish(procedures)
  }

  @Test("a child of a group with the same rate needs a start of its own, and gets it in time")
  func insideGroup() {
    let child = limited("child", 1)
    let group = GroupProcedure(child)
    group.add(condition: RateLimit(1, per: .seconds(1), of: category))
    makeQueue().add(group)
    #expect(executing([child]).isEmpty && group.isExecuting)
    pass(.seconds(1))
    #expect(executing([child]) == ["child"])
    child.finish()
    scheduler.run()
    #expect(group.isFinished)
  }

  @Test("a procedure that was granted a start, and is cancelled before it, takes none")
  func cancelledBeforeStart() {
    let (first, second) = (makeQueue(), makeQueue())
    let procedures = (0..<3).map { limited("\($0)", 1, per: .seconds(2)) }
    first.add(procedures[0])
    scheduler.run()
    first.add(procedures[1])
    scheduler.run()
    second.add(procedures[2])
    scheduler.run()
    // Granted, with a worker that has not come.
    clock.advance(by: .seconds(2))
    procedures[1].cancel()
    clock.advance(by: .milliseconds(500))
    #expect(executing(procedures) == ["0", "2"] && procedures[1].isFinished)
    finish(procedures)
  }

  @Test("starts of a simulation say nothing about those of the next one, or of a queue")
  func otherClock() throws {
    for seed in 0..<3 as Range<UInt64> {
      let simulation = ProcedureSimulation(seed: seed)
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        for _ in 0..<3 {
          let procedure = BlockProcedure {}
          procedure.add(condition: RateLimit(1, per: .seconds(100), of: category))
          queue.add(procedure)
        }
      }
      #expect(simulation.elapsed == .seconds(200))
    }
    let procedure = limited("real", 1, per: .seconds(100))
    makeQueue().add(procedure)
    #expect(executing([procedure]) == ["real"])
    procedure.finish()
    scheduler.run()
  }

  @Test("a count or an interval of zero traps, naming the category")
  func misuse() async {
    let count = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = RateLimit(0, per: .seconds(1), of: "host")
    }
    let interval = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = RateLimit(1, per: .zero, of: "host")
    }
    for (result, numbers) in [(count, "0, per: 1.0 seconds"), (interval, "1, per: 0.0 seconds")] {
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("RateLimit(\(numbers), of: 'host') lets no procedure start"))
    }
  }
}
