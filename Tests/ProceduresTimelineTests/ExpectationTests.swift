import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

@Suite(.hangLimit) struct ExpectationTests {
  private func timeline() throws -> ProcedureTimeline {
    let scenario = Scenario()
    let (fetch, parse) = (lasting(2, "fetch"), lasting(3, "parse"))
    parse.add(dependency: fetch)
    scenario.queue.add(fetch, parse, lasting(4, "aside"))
    _ = try scenario.run()
    return scenario.timeline
  }

  @Test("V4: expectations that hold are accepted")
  func accepted() throws {
    let timeline = try timeline()
    try timeline.expect(order: "fetch", "parse")
    try timeline.expect(overlap: "parse", "aside")
    try timeline.expect(overlap: "fetch", "aside")
    try timeline.expect(noOverlap: "parse", "fetch")
    try timeline.expect(criticalPath: "fetch", "parse")
  }

  @Test("V4: expectations that do not hold are refused, with the times and the summary")
  func refused() throws {
    let timeline = try timeline()
    #expect(throws: TimelineError.self) { try timeline.expect(order: "parse", "fetch") }
    #expect(throws: TimelineError.self) { try timeline.expect(order: "fetch", "aside") }
    #expect(throws: TimelineError.self) { try timeline.expect(overlap: "fetch", "parse") }
    #expect(throws: TimelineError.self) { try timeline.expect(noOverlap: "parse", "aside") }
    #expect(throws: TimelineError.self) { try timeline.expect(criticalPath: "fetch") }
    let error = #expect(throws: TimelineError.self) { try timeline.expect(order: "nothing") }
    #expect(error?.description.hasPrefix("No procedure 'nothing'") == true)
  }

  @Test("V4: an order that the times of work without duration cannot tell is refused, and says so")
  func withoutDuration() throws {
    let scenario = Scenario()
    let (fetch, parse, store) = (BlockProcedure {}, BlockProcedure {}, BlockProcedure {})
    parse.add(dependency: fetch)
    store.add(dependency: parse)
    scenario.queue.add(
      fetch.named("fetch"), parse.named("parse"), store.named("store"),
      BlockProcedure {}.named("aside"))
    _ = try scenario.run()
    let timeline = scenario.timeline
    try timeline.expect(order: "fetch", "parse", "store")
    try timeline.expect(order: "fetch", "store")
    for names in [("parse", "fetch"), ("store", "fetch"), ("fetch", "aside"), ("aside", "fetch")] {
      let error = #expect(throws: TimelineError.self) {
        try timeline.expect(order: names.0, names.1)
      }
      #expect(error?.description.contains("the times cannot tell") == true)
    }
  }

  @Test("V3: a failing seed has its timeline, and says so")
  func explored() throws {
    let error = #expect(throws: SimulationError.self) {
      try ProcedureSimulation.explore(seeds: 0..<3) { simulation in
        let queue = simulation.makeQueue()
        queue.add(lasting(2, "fetch"))
        try simulation.run()
        throw TestError("no")
      }
    }
    #expect(error?.timeline?.entries.map(\.name) == ["fetch"])
    #expect(error?.description.contains("error.timeline") == true)
  }

  @Test("V4: a planted bottleneck of each kind is what the waits name first")
  func planted() throws {
    func first(_ scenario: Scenario) throws -> ProcedureTimeline.WaitCause? {
      try scenario.run().waits.first?.cause
    }
    let slots = Scenario(limit: 1)
    for number in 0..<6 { slots.queue.add(lasting(2, "\(number)")) }
    #expect(try first(slots) == .slot)

    let exclusive = Scenario(limit: 8)
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "planted"))
    for number in 0..<6 {
      let procedure = lasting(2, "\(number)")
      procedure.add(condition: AtMost(1, of: disk))
      exclusive.queue.add(procedure)
    }
    #expect(try first(exclusive) == .exclusion)

    let dependent = Scenario()
    let slow = lasting(9, "slow")
    dependent.queue.add(slow)
    for number in 0..<6 {
      let procedure = lasting(1, "\(number)")
      procedure.add(dependency: slow)
      dependent.queue.add(procedure)
    }
    #expect(try first(dependent) == .dependency)

    let suspended = Scenario()
    suspended.queue.isSuspended = true
    suspended.queue.add(lasting(1, "one"))
    suspended.at(5) { [queue = suspended.queue] in queue.isSuspended = false }
    #expect(try first(suspended) == .suspension)

    let barred = Scenario()
    barred.queue.add(lasting(5, "before"))
    barred.queue.add(barrier: lasting(1, "barrier"))
    #expect(try first(barred) == .barrier)
  }
}
