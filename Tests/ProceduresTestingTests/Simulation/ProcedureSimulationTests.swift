import Foundation
import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ProcedureSimulationTests {
  /// Some of everything that a simulation runs.
  private func scenario(_ simulation: ProcedureSimulation) throws {
    let domain = ExclusionDomain(name: "scenario")
    let queue = simulation.makeQueue(name: "first", maxConcurrentProcedureCount: 2)
    let other = simulation.makeQueue(name: "second")
    let block = BlockProcedure { throw TestError("it failed") }
    let delay = DelayProcedure(by: .seconds(3600))
    let condition = TracedProcedure("condition")
    condition.add(
      condition: AsyncCondition {
        await Task.yield()
        return true
      })
    condition.add(dependency: block)
    let inner = GroupProcedure(TracedProcedure("child"), TracedProcedure("child"))
    let group = GroupProcedure(inner, DelayProcedure(by: .milliseconds(5)))
    group.add(condition: MutuallyExclusive<Int>(in: domain))
    let rival = TracedProcedure("rival")
    rival.add(condition: MutuallyExclusive<Int>(in: domain))
    let source = CancellationTokenSource()
    let told = DelayProcedure(by: .seconds(60))
    told.cancel(when: source.token)
    let early = TracedProcedure("early")
    early.cancel()
    queue.add(block, group, told)
    other.add(condition, rival, delay, early)
    source.cancel(after: .seconds(1), clock: simulation.clock)
    simulation.perform("the group is cancelled", after: .milliseconds(5)) { group.cancel() }
    simulation.perform { other.isSuspended = true }
    simulation.perform(after: .seconds(2)) { other.isSuspended = false }
  }

  @Test("a simulation meets each attempt of a repeat, and each child of a group that keeps none")
  func attempts() throws {
    for seed in UInt64(0)..<50 {
      let simulation = ProcedureSimulation(seed: seed)
      let queue = simulation.makeQueue()
      let number = Counter()
      queue.add(
        RepeatProcedure(max: 5, wait: .constant(.seconds(60))) {
          BlockProcedure {}.named("poll \(number.increment())")
        })
      let relay = GroupProcedure(BlockProcedure {}.named("late 1"))
      relay.keepsFinishedChildren = false
      let late = Counter()
      late.increment()
      relay.addDidAddProcedureBlockObserver { relay, added in
        guard late.value < 5 else { return }
        let next = BlockProcedure {}.named("late \(late.increment())")
        next.add(dependency: added)
        relay.add(child: next)
      }
      queue.add(relay)
      try simulation.run()
      for name in (1...5).flatMap({ ["poll \($0)", "late \($0)"] }) {
        let finishes = simulation.log.split(separator: "\n").filter {
          $0.contains("\(name) did finish")
        }
        #expect(finishes.count == 1, "\(name) with seed \(seed):\n\(simulation.log)")
      }
    }
  }

  private func log(seed: UInt64) throws -> String {
    let simulation = ProcedureSimulation(seed: seed)
    try simulation.run(scenario)
    return simulation.log
  }

  @Test("the same seed gives the same run, to the byte of its log; others give others")
  func repeatable() throws {
    var logs: Set<String> = []
    for seed in 0..<50 as Range<UInt64> {
      let first = try log(seed: seed)
      #expect(try log(seed: seed) == first)
      logs.insert(first)
    }
    #expect(logs.count > 25)
    #expect(logs.allSatisfy { $0.contains("3600.0") || $0.contains("3602.0") })
  }

  @Test("Z4: jitter and random waits are part of what the seed decides")
  func jitter() throws {
    func waited(seed: UInt64) throws -> Duration {
      let simulation = ProcedureSimulation(seed: seed)
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        for wait in [
          WaitStrategy.exponential(period: .seconds(1)).jittered(), .random(maximum: .seconds(9)),
        ] {
          queue.add(RepeatProcedure(max: 4, wait: wait) { BlockProcedure {} })
        }
      }
      return simulation.elapsed
    }
    for seed in 0..<10 as Range<UInt64> {
      #expect(try waited(seed: seed) == waited(seed: seed))
      #expect(try waited(seed: seed) != waited(seed: seed + 1))
    }
  }

  @Test("the decisions of a run give the same run")
  func draws() throws {
    let simulation = ProcedureSimulation(seed: 7)
    try simulation.run(scenario)
    let again = ProcedureSimulation(seed: 8, draws: simulation.draws)
    try again.run(scenario)
    #expect(again.log == simulation.log)
  }

  @Test("the log has the time, the name, made unique, and the event")
  func logLines() throws {
    let simulation = ProcedureSimulation(seed: 1, draws: [])
    try simulation.run { simulation in
      let queue = simulation.makeQueue()
      let (first, second) = (DelayProcedure(by: .milliseconds(10)), TracedProcedure("p"))
      first.name = "p"
      second.add(dependency: first)
      queue.add(first, second)
    }
    #expect(
      simulation.log == """
        0.000000000  p will execute
        0.000000000  p did execute
        0.010000000  p will finish
        0.010000000  p did finish: succeeded
        0.010000000  p 2 will execute
        0.010000000  p 2 did execute
        0.010000000  p 2 will finish
        0.010000000  p 2 did finish: succeeded

        """)
    #expect(simulation.elapsed == .milliseconds(10))
  }

  @Test(
    "everything happens on the thread that runs it, also on no queue, in conditions and in groups")
  func oneThread() throws {
    let threads = Recorder<ObjectIdentifier>()
    let groups = Recorder<GroupProcedure>()
    @Sendable func note() { threads.note(ObjectIdentifier(Thread.current)) }
    for seed in 0..<50 as Range<UInt64> {
      try ProcedureSimulation(seed: seed).run { simulation in
        let lone = TracedProcedure("lone")
        lone.addDidCancelBlockObserver { _, _ in note() }
        lone.cancel()
        lone.addDidCancelBlockObserver { _, _ in note() }
        let child = TracedProcedure("child")
        child.addDidCancelBlockObserver { _, _ in note() }
        let group = GroupProcedure(child)
        groups.note(group)
        group.cancel()
        let waiting = TracedProcedure("waiting")
        waiting.add(
          condition: AsyncCondition {
            note()
            await Task.yield()
            note()
            return true
          })
        simulation.makeQueue().add(waiting)
      }
    }
    #expect(threads.events.count == 250)
    #expect(Set(threads.events) == [ObjectIdentifier(Thread.current)])
  }

  @Test("a run that never ends is an error that says which procedure waits for which")
  func hang() {
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 5..<6) { simulation in
        let queue = simulation.makeQueue(name: "uploads")
        let endless = ManualProcedure(name: "endless")
        let after = TracedProcedure("after")
        after.add(dependency: endless)
        queue.add(endless, after)
      }
    }
    let text = "\(error!)"
    #expect(text.contains("2 procedures have not finished"))
    #expect(text.contains("'after' pending: it waits for 'endless'"))
    #expect(text.contains("ProcedureSimulation(seed: 5, draws: [])"))
    #expect(text.contains("0.000000000  endless did execute"))
  }

  @Test(
    "exploring finds an order that breaks an expectation, and takes out what is not needed for it")
  func explore() throws {
    let runs = Counter()
    @Sendable func scenario(_ simulation: ProcedureSimulation) throws {
      runs.increment()
      let queue = simulation.makeQueue()
      let order = Recorder<String>()
      for name in ["a", "b", "c", "d"] { queue.add(BlockProcedure { order.note(name) }) }
      try simulation.run()
      try simulation.expect(order.events.last != "a", "a came last")
    }
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 0..<10_000, scenario)
    }
    let failure = try #require(error)
    #expect("\(failure)".contains("a came last") && runs.value < 500)
    #expect(failure.draws.count { $0 != 0 } <= 6, "\(failure.draws)")
    let again = #expect(throws: SimulationError.self) {
      try ProcedureSimulation(seed: failure.seed, draws: failure.draws).run(scenario)
    }
    #expect(again?.log == failure.log)
  }

  @Test("something else happens between two events of a procedure, as from another thread")
  func interruptions() throws {
    let seen = Counter()
    for seed in 0..<200 as Range<UInt64> {
      let simulation = ProcedureSimulation(seed: seed)
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        let procedure = TracedProcedure("p", end: .whenToldOrCancelled)
        queue.add(procedure)
        simulation.perform {
          if procedure.state == .started { seen.increment() }
          procedure.cancel()
        }
      }
    }
    #expect(seen.value > 0)
  }

  @Test("a condition that must always hold is checked after each step")
  func invariants() {
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 0..<100) { simulation in
        let queue = simulation.makeQueue()
        let running = Counter()
        simulation.always("at most two run") { running.value <= 2 }
        for _ in 0..<3 {
          let delay = DelayProcedure(by: .seconds(1))
          delay.addWillExecuteBlockObserver { _, _ in running.increment() }
          delay.addDidFinishBlockObserver { _, _ in running.decrement() }
          queue.add(delay)
        }
      }
    }
    #expect("\(error!)".contains("It does not always hold that: at most two run"))
  }

  @Test("an action of perform may throw, and fails the run then; its name is in the log")
  func actions() {
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 0..<10) { simulation in
        let queue = simulation.makeQueue()
        queue.add(DelayProcedure(by: .seconds(2)))
        simulation.perform("the user looks", after: .seconds(1)) {
          try simulation.expect(queue.count == 0, "still busy")
        }
      }
    }
    #expect("\(error!)".contains("still busy (ProceduresTestingTests/"))
    #expect(error?.log.hasSuffix("1.000000000  the user looks\n") == true)
  }

  @Test("K10, Z2: deadlines of tokens and timeouts pass in virtual time")
  func deadlines() throws {
    let simulation = ProcedureSimulation(seed: 4)
    let queue = simulation.makeQueue()
    let (first, second) = (ManualProcedure(), ManualProcedure())
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(60), clock: simulation.clock)
    first.cancel(when: source.token)
    second.add(observer: TimeoutObserver(by: .seconds(30)))
    queue.add(first, second)
    try simulation.run()
    let (late, slow) = (first.errors as? [ProcedureError], second.errors as? [ProcedureError])
    #expect(late?.map(\.code) == [.deadlineExceeded])
    #expect(slow?.map(\.code) == [.timedOut] && slow?.first?.duration == .seconds(30))
    #expect(simulation.elapsed == .seconds(60))
  }

  @Test("Q6: a queue that its owner releases still runs what was added to it")
  func queueIsLetGoOf() throws {
    for seed in 0..<50 as Range<UInt64> {
      let simulation = ProcedureSimulation(seed: seed)
      let procedure = TracedProcedure()
      try simulation.run { $0.makeQueue(maxConcurrentProcedureCount: 1).add(procedure) }
      #expect(procedure.isFinished && simulation.log.contains("p did finish"))
    }
  }

  @Test("time stands still between runs, and passes by the duration that a run is given")
  func runFor() throws {
    let simulation = ProcedureSimulation(seed: 3)
    let queue = simulation.makeQueue()
    let delay = DelayProcedure(by: .seconds(10))
    queue.add(delay)
    try simulation.run(for: .seconds(4))
    #expect(delay.isExecuting && simulation.elapsed == .seconds(4))
    try simulation.run(for: .seconds(6))
    #expect(delay.isFinished && simulation.elapsed == .seconds(10))
    let manual = ManualProcedure()
    queue.add(manual)
    try simulation.runUntilIdle()
    #expect(manual.isExecuting)
    manual.finish()
    try simulation.run()
    #expect(manual.isFinished)
  }

  @Test("a run that does not come to an end is an error")
  func endless() {
    let error = #expect(throws: SimulationError.self) {
      let simulation = ProcedureSimulation(seed: 0, mostSteps: 20_000)
      @Sendable func again() { simulation.perform(after: .milliseconds(1)) { again() } }
      again()
      try simulation.run()
    }
    #expect("\(error!)".contains("does not come to an end"))
  }

  @Test("Q7: a cycle ends as on a real queue")
  func cycle() throws {
    for seed in 0..<20 as Range<UInt64> {
      let simulation = ProcedureSimulation(seed: seed)
      let queue = simulation.makeQueue()
      let (a, b) = (TracedProcedure("a"), TracedProcedure("b"))
      a.add(dependency: b)
      b.add(dependency: a)
      queue.add(a, b)
      try simulation.run()
      #expect(a.isCancelled && b.isCancelled)
      #expect(simulation.elapsed < .seconds(1))
    }
  }
}

@Suite(.hangLimit) struct SimulatedRefusalTests {
  @Test("G13: a refusal by a queue or a group is in the log, which is the same each time")
  func refusals() throws {
    func log() throws -> String {
      let simulation = ProcedureSimulation(seed: 7)
      try simulation.run { simulation in
        let queue = simulation.makeQueue(name: "jobs")
        let group = GroupProcedure(TracedProcedure("child"))
        group.name = "group"
        queue.add(group)
        simulation.perform(after: .seconds(1)) {
          group.add(child: TracedProcedure("late child"))
          queue.close()
          queue.add(TracedProcedure("late"))
        }
        queue.add(
          AsyncProcedure { try await queue.clock.sleep(for: .seconds(3600)) })
      }
      #expect(simulation.elapsed == .seconds(3600))
      return simulation.log
    }
    let first = try log()
    #expect(first.contains("1.000000000  'late child' was refused. It was added to group 'group'"))
    #expect(first.contains("1.000000000  'late' was refused. It was added to queue 'jobs'"))
    #expect(try log() == first)
  }
}
