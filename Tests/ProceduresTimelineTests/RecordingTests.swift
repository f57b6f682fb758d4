import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing
import ProcedureTestSupport

@Suite(.hangLimit) struct RecordingTests {
  @Test("V1: an entry has the instants of a plain life, its outcome and its lane")
  func life() throws {
    let scenario = Scenario()
    scenario.queue.add(lasting(2, "one"))
    let entry = try #require(try scenario.run().entries.first)
    #expect(entry.name == "one")
    #expect(entry.type == "LastingProcedure")
    #expect(entry.ready == entry.enqueued)
    #expect(entry.started == entry.enqueued)
    #expect(entry.executing == entry.enqueued)
    #expect(entry.finished == entry.enqueued + .seconds(2))
    #expect(entry.outcome?.isSuccess == true)
    #expect(entry.lane == 0)
    #expect(entry.parent == nil && entry.cancelled == nil && entry.errors.isEmpty)
  }

  @Test("V1: times are exact to the nanosecond")
  func nanoseconds() throws {
    for nanoseconds in [
      1, 2, 3, 999, 1_000_000_007, 86_400_000_000_001, 3_155_760_000_000_000_003,
    ] as [Int64] {
      let scenario = Scenario()
      let second = LastingProcedure(.nanoseconds(1)).named("second")
      let first = LastingProcedure(.nanoseconds(nanoseconds)).named("first")
      second.add(dependency: first)
      scenario.queue.add(first, second)
      let snapshot = try scenario.run()
      #expect(snapshot.entry(named: "first")?.duration == .nanoseconds(nanoseconds))
      #expect(snapshot.entry(named: "second")?.waited == .nanoseconds(nanoseconds))
      #expect(snapshot.entry(named: "second")?.duration == .nanoseconds(1))
    }
  }

  @Test("V1: children, produced procedures, attempts of a retry and async bodies are entries")
  func below() throws {
    let scenario = Scenario()
    let producing = BlockProcedure { procedure in
      try procedure.produce(lasting(1, "produced"))
    }.named("producing")
    let clock = scenario.queue.clock
    let asynchronous = AsyncProcedure { try await clock.sleep(for: .seconds(3)) }.named("async")
    let retry = RetryProcedure(max: 3, wait: .constant(.seconds(1))) {
      BlockProcedure { throw TestError("again") }.named("attempt")
    }.named("retry")
    scenario.queue.add(GroupProcedure(producing, asynchronous).named("group"), retry)
    let snapshot = try scenario.run()
    func parent(_ name: String) -> String? {
      snapshot.entry(named: name)?.parent.flatMap { snapshot.entry($0)?.name }
    }
    #expect(parent("producing") == "group")
    #expect(parent("produced") == "group")
    #expect(parent("async") == "group")
    #expect(snapshot.entry(named: "async")?.duration == .seconds(3))
    let attempts = snapshot.entries.filter { $0.name == "attempt" }
    #expect(attempts.count >= 3)
    for attempt in attempts {
      #expect(attempt.parent != nil)
      #expect(attempt.errors as? [TestError] == [TestError("again")])
    }
  }

  @Test("V1: an entry has its cancel, with instant and reason, and waited if it had not started")
  func cancel() throws {
    let scenario = Scenario(limit: 1)
    let (first, second) = (lasting(5, "first"), lasting(5, "second"))
    scenario.queue.add(first, second)
    scenario.at(2) { second.cancel(withError: TestError("no")) }
    scenario.at(3) { first.cancel() }
    let snapshot = try scenario.run()
    let entry = try #require(snapshot.entry(named: "second"))
    #expect(entry.started == nil && entry.executing == nil && entry.lane == nil)
    #expect(entry.cancelled == entry.enqueued + .seconds(2))
    #expect(entry.outcome?.isCancelled == true)
    #expect(entry.errors as? [TestError] == [TestError("no")])
    if case .failure(let error)? = entry.cancelReason {
      #expect(error as? TestError == TestError("no"))
    } else {
      Issue.record("\(String(describing: entry.cancelReason))")
    }
    #expect(snapshot.waits(of: "second") == ["slot 2.0"])
    if case .requested? = snapshot.entry(named: "first")?.cancelReason {
    } else {
      Issue.record("first: \(String(describing: snapshot.entry(named: "first")?.cancelReason))")
    }
  }

  @Test("V1: an unfinished procedure is an entry, with its waits so far")
  func unfinished() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.add(lasting(5, "first"), lasting(5, "second"))
    try scenario.simulation.run(for: .seconds(2))
    let snapshot = scenario.timeline.snapshot()
    #expect(snapshot.entry(named: "first")?.outcome == nil)
    #expect(snapshot.entry(named: "first")?.started != nil)
    #expect(snapshot.waits(of: "second") == ["slot 2.0"])
    try scenario.simulation.run()
    #expect(scenario.timeline.snapshot().waits(of: "second") == ["slot 5.0"])
  }

  @Test("V1: a queue that is given to a timeline twice has each procedure once, also one that runs")
  func recordedTwice() throws {
    let scenario = Scenario(limit: 1)
    scenario.timeline.record(scenario.queue)
    scenario.queue.add(lasting(5, "first"), lasting(5, "second"))
    try scenario.simulation.run(for: .seconds(2))
    #expect(scenario.timeline.entries.map(\.name) == ["first", "second"])
    try scenario.simulation.run()
    #expect(scenario.timeline.entries.map(\.name) == ["first", "second"])
  }

  @Test("V1: a group is recorded from when it is on a queue, and nothing beside it")
  func group() throws {
    let simulation = ProcedureSimulation(seed: 1)
    let queue = simulation.makeQueue()
    let timeline = ProcedureTimeline()
    let inner = GroupProcedure(lasting(1, "deep")).named("inner")
    let group = GroupProcedure(lasting(2, "child"), inner).named("group")
    timeline.record(group)
    #expect(timeline.entries.isEmpty)
    queue.add(group, lasting(1, "beside"))
    try simulation.run()
    #expect(Set(timeline.entries.map(\.name)) == ["child", "inner", "deep"])
    #expect(timeline.snapshot().rootNames == ["group"])
  }

  @Test("V1: a group inside another is recorded, too, when the outer one is added")
  func nestedGroup() throws {
    let simulation = ProcedureSimulation(seed: 1)
    let queue = simulation.makeQueue()
    let timeline = ProcedureTimeline()
    let inner = GroupProcedure(lasting(1, "deep")).named("inner")
    timeline.record(inner)
    queue.add(GroupProcedure(lasting(2, "child"), inner))
    try simulation.run()
    #expect(timeline.entries.map(\.name) == ["deep"])
  }

  @Test(
    "V1: procedures that are there when recording begins are recorded as if they were enqueued then"
  )
  func late() throws {
    let simulation = ProcedureSimulation(seed: 1)
    let queue = simulation.makeQueue(maxConcurrentProcedureCount: 2)
    let timeline = ProcedureTimeline()
    queue.add(lasting(4, "first"), GroupProcedure(lasting(6, "child")).named("group"))
    queue.add(lasting(1, "second"))
    simulation.perform(after: .seconds(1)) { timeline.record(queue) }
    try simulation.run()
    let snapshot = timeline.snapshot()
    #expect(Set(snapshot.entries.map(\.name)) == ["first", "group", "child", "second"])
    #expect(snapshot.waits(of: "second") == ["slot 3.0"])
    #expect(snapshot.entry(named: "first")?.duration == .seconds(3))
    for entry in snapshot.entries { #expect(entry.faults == []) }
  }

  @Test("V2: a timeline keeps the newest that have finished, and says how many were dropped")
  func bounded() throws {
    let scenario = Scenario(limit: 1, capacity: 3)
    for number in 1...10 { scenario.queue.add(lasting(1, "\(number)")) }
    let snapshot = try scenario.run()
    #expect(snapshot.entries.map(\.name) == ["8", "9", "10"])
    #expect(snapshot.droppedCount == 7)
    #expect(snapshot.criticalPath.map(\.entry.name) == ["8", "9", "10"])
  }

  @Test("V2: a timeline keeps no procedure, and nothing once it is released")
  func releases() throws {
    let scenario = Scenario()
    weak var procedure: Procedure?
    do {
      let strong = lasting(1, "one")
      procedure = strong
      scenario.queue.add(strong)
    }
    _ = try scenario.run()
    #expect(procedure == nil)
    #expect(scenario.timeline.entries.count == 1)
  }

  /// An error that shows whether it is alive.
  private final class HeavyError: Error {}

  @Test("V2: a timeline that is released keeps no error alive, though its queue lives on")
  func released() async {
    let queue = ProcedureQueue()
    weak var before: HeavyError?
    weak var after: HeavyError?
    func fail() -> HeavyError {
      let error = HeavyError()
      queue.add(BlockProcedure { throw error })
      return error
    }
    var timeline: ProcedureTimeline? = ProcedureTimeline()
    timeline?.record(queue)
    before = fail()
    await queue.waitUntilAllFinished()
    #expect(timeline?.entries.count == 1)
    #expect(before != nil)
    queue.isSuspended = true
    after = fail()
    timeline = nil
    // A worker may not have left its last procedure yet.
    #expect(await eventually { before == nil })
    #expect(before == nil)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect(await eventually { after == nil })
    #expect(after == nil)
  }

  @Test(
    "V1: the waits of each procedure add up, and lanes do not overlap, in any order of events")
  func randomWorkloads() throws {
    for seed in 0..<UInt64(Rounds.size(3_000, otherwise: 40)) {
      let workload = RandomWorkload(seed: seed)
      let snapshot = try workload.run()
      let faults = snapshot.entries.flatMap(\.faults) + snapshot.laneFaults + workload.faults
      #expect(faults == [], "seed \(seed)")
      if !faults.isEmpty { return }
    }
  }

  @Test("V1: the waits add up, and no procedure is lost, on real threads")
  func threads() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 3)
    let timeline = ProcedureTimeline()
    timeline.record(queue)
    let count = Rounds.size(20_000, otherwise: 600)
    var last: Procedure?
    for number in 0..<count {
      let procedure = BlockProcedure {}.named("\(number)")
      if number % 3 == 1, let last { procedure.add(dependency: last) }
      if number % 7 == 0 { procedure.add(condition: AtMost(1, of: "timeline threads")) }
      last = procedure
      queue.add(number % 5 == 0 ? GroupProcedure(procedure) : procedure)
      if number % 11 == 0 { procedure.cancel() }
    }
    await queue.waitUntilAllFinished()
    let snapshot = timeline.snapshot()
    #expect(snapshot.entries.count == count + (count + 4) / 5)
    #expect(snapshot.entries.flatMap(\.faults) == [])
    #expect(snapshot.laneFaults == [])
    #expect(snapshot.mostRunning <= 3)
  }
}

extension ProcedureTimeline.Snapshot {
  /// Two in one lane at the same time that are not a group and what is below it.
  var laneFaults: [String] {
    var faults: [String] = []
    var open: [Int: [ProcedureTimeline.Entry]] = [:]
    let started = entries.filter { $0.started != nil }
      .sorted { ($0.started ?? $0.enqueued, $0.id) < ($1.started ?? $1.enqueued, $1.id) }
    for entry in started {
      guard let lane = entry.lane, let start = entry.started else {
        faults.append("\(entry.name): no lane")
        continue
      }
      open[lane, default: []].removeAll { ($0.finished ?? start) <= start && $0.finished != nil }
      if let last = open[lane]?.last, !isBelow(entry, last.id) {
        faults.append("\(entry.name) and \(last.name) in lane \(lane)")
      }
      open[lane, default: []].append(entry)
    }
    return faults
  }

  /// Whether that is a group around it, however far: one of no duration may lie between.
  private func isBelow(_ entry: ProcedureTimeline.Entry, _ group: Int) -> Bool {
    var parent = entry.parent
    while let next = parent {
      if next == group { return true }
      parent = self.entry(next)?.parent
    }
    return false
  }
}
