import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// Which orders of events a simulation reaches, counted.
@Suite(.hangLimit) struct OrderTests {
  @Test(
    "each order of blocks that nothing orders comes within 20,000 seeds: 120 of five, 720 of six",
    arguments: [Rounds.isStress ? (6, 720) : (5, 120)])
  func freeBlocks(count: Int, all: Int) throws {
    let orders = Seen<[Int]>()
    let seeds = try orders.collect(all, within: 20_000) { seed in
      let simulation = ProcedureSimulation(seed: seed)
      let order = Recorder<Int>()
      try simulation.run { simulation in
        let queue = simulation.makeQueue()
        queue.add((0..<count).map { number in BlockProcedure { order.note(number) } })
      }
      return order.events
    }
    #expect(orders.count == all, "\(orders.count) in \(seeds) seeds")
  }

  @Test(
    "an action for the same instant comes after any number of blocks, within 20,000 seeds",
    arguments: Rounds.isStress ? [(1, 30), (Int.max, 30)] : [(1, 12)])
  func cancelAmongBlocks(limit: Int, count: Int) throws {
    let places = Seen<Int>()
    let seeds = try places.collect(count + 1, within: 20_000) { seed in
      let simulation = ProcedureSimulation(seed: seed)
      let (done, before) = (Counter(), Slot<Int>())
      try simulation.run { simulation in
        let queue = simulation.makeQueue(maxConcurrentProcedureCount: limit)
        queue.add((0..<count).map { _ in BlockProcedure { done.increment() } })
        simulation.perform {
          before.value = done.value
          queue.cancelAll()
        }
      }
      return before.value ?? -1
    }
    #expect(places.count == count + 1, "\(places.count) places in \(seeds) seeds")
  }

  @Test("a cancel comes between any two events of a procedure")
  func cancelBetweenEvents() throws {
    let states = Seen<String>()
    _ = try states.collect(5, within: 2_000) { seed in
      let simulation = ProcedureSimulation(seed: seed)
      let state = Slot<String>()
      try simulation.run { simulation in
        let procedure = TracedProcedure("p", end: .whenToldOrCancelled)
        simulation.makeQueue().add(procedure)
        simulation.perform {
          state.value = "\(procedure.state)"
          procedure.cancel()
        }
        simulation.perform { procedure.finish() }
      }
      return state.value ?? ""
    }
    #expect(states.all == ["pending", "started", "executing", "finishing", "finished"])
  }

  @Test("the same seed decides the same, whichever way it decides")
  func repeatable() throws {
    for seed in 0..<UInt64(Rounds.size(200, otherwise: 100)) {
      func run(_ draws: [Int]?) throws -> ProcedureSimulation {
        let simulation = ProcedureSimulation(seed: seed, draws: draws)
        try simulation.run { simulation in
          let queue = simulation.makeQueue(maxConcurrentProcedureCount: 2)
          let group = GroupProcedure(children: (0..<3).map { TracedProcedure("child \($0)") })
          queue.add(group, DelayProcedure(by: .seconds(1)))
          queue.add(AsyncProcedure { @concurrent in await Task.yield() })
          simulation.perform { group.cancel() }
        }
        return simulation
      }
      let first = try run(nil)
      #expect(try run(nil).log == first.log)
      #expect(try run(first.draws).log == first.log)
    }
  }

  // MARK: All of them

  @Test(
    "all orders of two blocks are tried, and of three with few preemptions; no order comes twice")
  func all() throws {
    for (count, orders) in [(1, 1), (2, 2), (3, 6)] {
      let seen = Seen<[Int]>()
      let coverage = try ProcedureSimulation.exploreAll(mostPreemptions: 3) { simulation in
        let order = Recorder<Int>()
        let queue = simulation.makeQueue()
        queue.add((0..<count).map { number in BlockProcedure { order.note(number) } })
        try simulation.run()
        seen.note(order.events)
      }
      #expect(coverage.isComplete && coverage.chanceOfNew == 0)
      #expect(seen.count == orders, "\(coverage)")
      #expect(coverage.orders <= coverage.runs)
    }
  }

  @Test("exploring all finds a race with one preemption, and proves that there is none without")
  func race() throws {
    final class Balance: Sendable {
      let now = Counter()
    }
    func explore(isExclusive: Bool, _ preemptions: Int) throws -> SimulationCoverage {
      try ProcedureSimulation.exploreAll(mostPreemptions: preemptions) { simulation in
        let domain = ExclusionDomain(name: "race")
        let (queue, balance) = (simulation.makeQueue(), Slot<Int>())
        balance.value = 0
        for _ in 0..<2 {
          let read = Slot<Int>()
          let first = BlockProcedure { read.value = balance.value }
          let second = BlockProcedure { balance.value = (read.value ?? 0) + 1 }
          second.add(dependency: first)
          let group = GroupProcedure(first, second)
          if isExclusive { group.add(condition: MutuallyExclusive<Balance>(in: domain)) }
          queue.add(group)
        }
        try simulation.run()
        try simulation.expect(balance.value == 2, "\(balance.value ?? 0) of 2")
      }
    }
    let error = #expect(throws: SimulationError.self) { try explore(isExclusive: false, 1) }
    #expect("\(error!)".contains("1 of 2"))
    #expect(try explore(isExclusive: true, 1).isComplete)
  }

  @Test("exploring all ends after the number of runs that it is given")
  func mostRuns() throws {
    let coverage = try ProcedureSimulation.exploreAll(mostRuns: 50) { simulation in
      simulation.makeQueue().add((0..<6).map { _ in BlockProcedure {} })
    }
    #expect(coverage.runs == 50 && !coverage.isComplete)
  }

  @Test("exploring says how many orders it saw, and how likely one more is new")
  func coverage() throws {
    let one = try ProcedureSimulation.explore(seeds: 0..<50) { simulation in
      simulation.makeQueue().add(TracedProcedure("alone"))
    }
    #expect(one.runs == 50 && one.orders == 1 && one.chanceOfNew == 0)
    let many = try ProcedureSimulation.explore(seeds: 0..<50) { simulation in
      simulation.makeQueue().add((0..<8).map { TracedProcedure("p \($0)") })
    }
    #expect(many.orders > 30 && many.chanceOfNew > 0.5, "\(many)")
    #expect("\(one)" == "50 runs, 1 orders, none of them seen once")
  }
}

/// What was seen, each once.
private final class Seen<Value: Hashable & Sendable>: Sendable {
  private let values = Slot<Set<Value>>()

  var all: Set<Value> { values.value ?? [] }
  var count: Int { all.count }

  func note(_ value: Value) { values.value = all.union([value]) }

  /// - Returns: after how many seeds there were so many.
  func collect(
    _ count: Int, within most: UInt64, _ run: (_ seed: UInt64) throws -> Value
  ) rethrows -> UInt64 {
    var seen = Set<Value>()
    defer { values.value = seen }
    for seed in 0..<most {
      seen.insert(try run(seed))
      if seen.count == count { return seed + 1 }
    }
    return most
  }
}
