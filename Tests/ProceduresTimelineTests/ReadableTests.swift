import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// What a timeline says of services, of programs that hang, and of names that nobody expects.
@Suite(.hangLimit) struct ReadableTests {
  @Test("V4: short waits of a service are shown, in a run that is a thousand times longer")
  func service() throws {
    let scenario = Scenario(limit: 1)
    for second in 0..<300 {
      scenario.at(second) { [queue = scenario.queue] in
        queue.add(
          LastingProcedure(.milliseconds(100)).named("first"),
          LastingProcedure(.milliseconds(50)).named("second"))
      }
    }
    let summary = try scenario.run().summary
    #expect(summary.contains("30 s slot of queue 'queue' (limit 1), 300 procedures"))
    #expect(summary.contains("Longest waits\n     100 ms second: slot, of queue 'queue' (limit 1)"))
  }

  @Test("V4: the limit that is shown is that of the time of the wait")
  func limit() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.add(lasting(2, "first"), lasting(2, "second"))
    scenario.at(5) { [queue = scenario.queue] in queue.maxConcurrentProcedureCount = 2 }
    scenario.at(6) { [queue = scenario.queue] in
      queue.add(lasting(2, "third"), lasting(2, "fourth"), lasting(2, "fifth"))
    }
    scenario.at(10) { [queue = scenario.queue] in queue.maxConcurrentProcedureCount = .max }
    let snapshot = try scenario.run()
    #expect(snapshot.entry(named: "second")?.waits.map(\.limit) == [1])
    #expect(snapshot.entry(named: "fifth")?.waits.map(\.limit) == [2])
    let summary = snapshot.summary
    #expect(summary.contains("(limit 1)") && summary.contains("(limit 2)"))
  }

  @Test("V4: while a program hangs, dependencies and holders that have not finished are named")
  func hanging() throws {
    let scenario = Scenario()
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "readable"))
    let (holder, waiter) = (lasting(9, "holder"), lasting(1, "waiter"))
    for procedure in [holder, waiter] { procedure.add(condition: AtMost(1, of: disk)) }
    let (dependent, outside) = (lasting(1, "dependent"), lasting(1, "outside"))
    dependent.add(dependency: holder)
    let lost = lasting(1, "lost")
    lost.add(dependency: outside)
    scenario.queue.add(holder, waiter, dependent, lost)
    let seen = Locked<[String]>([])
    scenario.at(5) { [timeline = scenario.timeline, queue = scenario.queue] in
      let snapshot = timeline.snapshot()
      let waits = ["waiter", "dependent", "lost"].flatMap(snapshot.waits(of:))
      seen.withLock { $0 = waits }
      let ids = ["waiter", "dependent", "lost"].map {
        snapshot.entry(named: $0)?.waits.first?.blockerID
      }
      #expect(ids == [1, 1, nil])
      queue.add(outside)
    }
    _ = try scenario.run()
    #expect(
      seen.withLock { $0 } == [
        "exclusion 5.0 (holder)", "dependency 5.0 (holder)", "dependency 5.0 (outside)",
      ])
  }

  @Test("V3: each dependency between slices has an arrow, also of groups")
  func arrows() throws {
    let scenario = Scenario()
    let (first, last) = (lasting(1, "first"), lasting(1, "last"))
    let group = GroupProcedure(lasting(1, "child")).named("group")
    group.add(dependency: first)
    last.add(dependency: group)
    scenario.queue.add(first, group, last)
    let trace = try scenario.run().chromeTrace()
    #expect(trace.split(separator: "\"ph\":\"s\"").count - 1 == 2)
    #expect(trace.split(separator: "\"ph\":\"f\"").count - 1 == 2)
  }

  @Test("V3: no name turns text around, breaks a line, fills the screen, or cannot be seen")
  func names() throws {
    let scenario = Scenario()
    scenario.queue.add(
      lasting(5, "safe\u{202e}txt.exe\u{2028}next"),
      lasting(4, "\u{2067}" + String(repeating: "x", count: 1_000_000)),
      lasting(3, ""), lasting(2, " \u{200b}\u{202e}"))
    let snapshot = try scenario.run()
    let summary = snapshot.summary + snapshot.verdict
    for scalar in ["\u{202e}", "\u{2028}", "\u{2067}"] as [Unicode.Scalar] {
      #expect(!summary.unicodeScalars.contains(scalar))
    }
    #expect(summary.contains("safe txt.exe next") && summary.count < 4_000)
    #expect(snapshot.entries.map(\.name).suffix(2) == ["LastingProcedure", "LastingProcedure"])
  }

  @Test("V3: long times are in units that a person reads")
  func times() throws {
    for (seconds, text) in [
      (599, "599 s"), (725, "12 min 5 s"), (7_200, "2 h"), (2_565_073, "29 d 16 h"),
    ] {
      let scenario = Scenario()
      scenario.queue.add(lasting(seconds, "long"))
      #expect(try scenario.run().summary.hasPrefix("1 procedure, \(text), at most"))
    }
  }
}
