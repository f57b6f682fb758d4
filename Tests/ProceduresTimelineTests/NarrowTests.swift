import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// Questions about one name, one procedure, some time, and two runs.
@Suite(.hangLimit) struct NarrowTests {
  /// A service: a request every ten seconds, one of which waits for a slot, and one for a category.
  private func service() throws -> ProcedureTimeline.Snapshot {
    let scenario = Scenario(limit: 2)
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "service"))
    scenario.queue.add(lasting(1, "request"))
    scenario.at(10) { [queue = scenario.queue] in
      queue.add(lasting(8, "backup"), lasting(8, "index"), lasting(1, "slow for a slot"))
    }
    scenario.at(30) { [queue = scenario.queue] in
      let (holder, waiter) = (lasting(5, "holder"), lasting(1, "slow for the disk"))
      for procedure in [holder, waiter] { procedure.add(condition: AtMost(1, of: disk)) }
      queue.add(holder, waiter)
    }
    scenario.at(50) { [queue = scenario.queue] in queue.add(lasting(3, "request")) }
    scenario.at(60) { [queue = scenario.queue] in queue.add(lasting(2, "request")) }
    return try scenario.run()
  }

  @Test("V4: a snapshot says how often, and how long, procedures of one name ran")
  func byName() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.add((1...100).map { lasting($0, "step") } + [lasting(7, "other")])
    let snapshot = try scenario.run()
    let runs = snapshot.byName
    #expect(runs.map(\.name) == ["step", "other"])
    #expect(runs[0].count == 100 && runs[0].sum == .seconds(5_050))
    #expect(runs[0].median == .seconds(50) && runs[0].p99 == .seconds(99))
    #expect(snapshot.entry(runs[0].longest)?.duration == .seconds(100))
    #expect(runs[1].median == .seconds(7) && runs[1].p99 == .seconds(7))
    #expect(snapshot.summary.contains("step, 100 procedures; half within 50 s, 99 % within 99 s"))
    #expect(ProcedureTimeline().snapshot().byName.isEmpty)
  }

  @Test("V4: a snapshot has the critical path of one procedure among many others")
  func ofOne() throws {
    let snapshot = try service()
    let verdicts = try ["slow for a slot", "slow for the disk"].map { name in
      let id = try #require(snapshot.entry(named: name)?.id)
      let its = try #require(snapshot.during(id))
      let sum = its.criticalPathShares.reduce(Duration.zero) { $0 + $1.total }
      #expect(sum == its.duration)
      #expect(its.criticalPath.last?.entry.name == name)
      for entry in its.entries where entry.finished != nil { #expect(entry.faults == []) }
      return its.verdict
    }
    #expect(
      verdicts[0]
        == "Of 9 s on the critical path, 89 % is slot of queue 'queue' (limit 2); 11 % work"
        + " (longest: 'slow for a slot', 1 s).")
    #expect(
      verdicts[1] == "Of 6 s on the critical path, 83 % is exclusion 'disk'; 17 % work"
        + " (longest: 'slow for the disk', 1 s).")
    #expect(snapshot.during(1_000) == nil)
  }

  @Test("V4: a window of a service's time cuts off what lies outside")
  func window() throws {
    let snapshot = try service()
    let window = snapshot.during(.seconds(12) ..< .milliseconds(18_500))
    #expect(window.duration == .milliseconds(6_500))
    #expect(window.entries.map(\.name) == ["backup", "index", "slow for a slot"])
    #expect(window.entries.map { $0.outcome == nil } == [false, false, true])
    #expect(window.waits(of: "slow for a slot") == ["slot 6.0"])
    #expect(window.mostRunning == 2)
    #expect(window.summary.contains("1 not finished"))
    #expect(window.html().contains("slow for a slot") && window.chromeTrace().contains("backup"))
    let early = snapshot.during(.seconds(25) ..< .seconds(33))
    let holder = try #require(early.entry(named: "holder"))
    #expect(early.duration == .seconds(3) && early.time(of: holder.enqueued) == .zero)
    #expect(early.slotUse.first?.time == .zero && !early.verdict.contains("not enqueued"))
    let none = snapshot.during(.seconds(40) ..< .seconds(45))
    #expect(none.entries.isEmpty && none.verdict.isEmpty)
  }

  @Test("V4: a window may be as long, and lie as far away, as a duration says")
  func extremeWindow() throws {
    let snapshot = try service()
    let (first, last) = (Duration.seconds(Int64.min), Duration.seconds(Int64.max))
    for window in [Duration.zero..<last, first..<last, .shortest ..< .longest] {
      let part = snapshot.during(window)
      #expect(part.summary == snapshot.summary)
    }
    for window in [first ..< .zero, last - .seconds(1)..<last, last..<last, first..<first] {
      let part = snapshot.during(window)
      #expect(part.entries.count <= 1 && part.duration == .zero)
      #expect(!part.html().isEmpty && !part.chromeTrace().isEmpty && !part.summary.isEmpty)
      _ = part.otlpRequests(service: "s")
    }
  }

  @Test("V4: any window of any workload adds up, and can be written")
  func anyWindow() throws {
    for seed in 0..<UInt64(Rounds.size(1_000, otherwise: 10)) {
      let snapshot = try RandomWorkload(seed: seed).run()
      let whole = snapshot.duration
      for (from, to) in [(0, 4), (1, 2), (1, 3), (3, 4), (2, 2)] {
        let window = snapshot.during(whole * from / 4..<whole * to / 4)
        let sum = window.criticalPathShares.reduce(Duration.zero) { $0 + $1.total }
        #expect(window.entries.isEmpty || sum == window.duration, "seed \(seed), \(from) to \(to)")
        #expect(!window.summary.isEmpty && !window.html().isEmpty && !window.chromeTrace().isEmpty)
      }
      for entry in snapshot.entries {
        let its = try #require(snapshot.during(entry.id))
        let sum = its.criticalPathShares.reduce(Duration.zero) { $0 + $1.total }
        #expect(sum == its.duration, "seed \(seed), \(entry.id)")
      }
    }
  }

  @Test("V4: a comparison says what differs between two runs, the greatest change first")
  func difference() throws {
    func build(limit: Int, linking: Int) throws -> ProcedureTimeline.Snapshot {
      let scenario = Scenario(limit: limit)
      let files = (1...4).map { lasting(3, "file \($0)") }
      let link = lasting(linking, "link")
      link.add(dependencies: files)
      scenario.queue.add(files + [link])
      return try scenario.run()
    }
    let (before, after) = (try build(limit: 2, linking: 2), try build(limit: 1, linking: 3))
    let difference = after.difference(from: before)
    #expect(difference.whole.change == .seconds(7))
    #expect(difference.names.first?.name == "link" && difference.names.first?.change == .seconds(1))
    let text = "\(difference)"
    #expect(
      text.hasPrefix(
        "+7 s whole: 8 s, now 15 s\nCritical path, by cause\n  +9 s slot of queue 'queue' (limit 1)"
      ))
    #expect(text.contains("+1 s link: 2 s, now 3 s"))
    #expect("\(after.difference(from: after))" == "+0 s whole: 15 s, now 15 s\n")
  }

  @Test("V2: one procedure in n is recorded, with all below it, and the others are counted")
  func sampled() throws {
    let simulation = ProcedureSimulation(seed: 1)
    let queue = simulation.makeQueue(name: "service")
    let timeline = ProcedureTimeline(recordingOneOf: 10)
    timeline.record(queue)
    queue.add(
      (0..<100).map { number in
        GroupProcedure(lasting(1, "a \(number)"), lasting(2, "b \(number)")).named("\(number)")
      })
    try simulation.run()
    let snapshot = timeline.snapshot()
    #expect(snapshot.entries.count { $0.parent == nil } == 10)
    #expect(snapshot.entries.count == 30 && snapshot.leftOutCount == 90)
    #expect(snapshot.entries.allSatisfy { $0.faults == [] })
    #expect(snapshot.summary.contains("90 others were not recorded: one of 10 is"))
    #expect(timeline.leftOutCount == 90)
  }
}
