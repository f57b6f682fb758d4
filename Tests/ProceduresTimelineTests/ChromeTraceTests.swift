import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// The rules of the format, as published, and as DevTools and Perfetto bind events to each other.
@Suite(.hangLimit) struct ChromeTraceTests {
  struct Event: Decodable {
    let name: String
    let cat: String
    let ph: String
    let ts: Double
    let pid: Int
    let tid: Int
    let dur: Double?
    let id: String?
    let bp: String?
    let s: String?
  }

  struct Trace: Decodable {
    let traceEvents: [Event]
  }

  private func events(_ snapshot: ProcedureTimeline.Snapshot) throws -> [Event] {
    try JSONDecoder().decode(Trace.self, from: Data(snapshot.chromeTrace().utf8)).traceEvents
  }

  /// What a reader of the trace would stumble over.
  private func faults(_ events: [Event]) -> [String] {
    var faults: [String] = []
    let slices = events.filter { $0.ph == "X" }
    for lane in Set(slices.map { [$0.pid, $0.tid] }) {
      var open: [Event] = []
      for slice in slices where [slice.pid, slice.tid] == lane {
        guard let duration = slice.dur, duration >= 0, slice.ts >= 0 else {
          faults.append("\(slice.name): no duration")
          continue
        }
        _ = duration
      }
      let sorted = slices.filter { [$0.pid, $0.tid] == lane }
        .sorted { ($0.ts, -($0.dur ?? 0)) < ($1.ts, -($1.dur ?? 0)) }
      for slice in sorted {
        open.removeAll { $0.ts + ($0.dur ?? 0) <= slice.ts + 0.0001 }
        if let outer = open.last, outer.ts + (outer.dur ?? 0) + 0.0001 < slice.ts + (slice.dur ?? 0)
        {
          faults.append("\(slice.name) overlaps \(outer.name)")
        }
        open.append(slice)
      }
    }
    let flows = Dictionary(grouping: events.filter { "sf".contains($0.ph) }) {
      [$0.id ?? "", $0.cat, $0.name]
    }
    for (key, ends) in flows {
      if ends.map(\.ph).sorted() != ["f", "s"] { faults.append("flow \(key): \(ends.map(\.ph))") }
      for end in ends {
        if end.bp != "e" { faults.append("flow \(key): bp is \(end.bp ?? "missing")") }
        let bound = slices.contains {
          $0.cat == end.cat && $0.pid == end.pid && $0.tid == end.tid && $0.ts == end.ts
        }
        if !bound { faults.append("flow \(key): \(end.ph) binds to no slice") }
      }
    }
    for event in events where event.ph == "i" && !["t", "p", "g"].contains(event.s ?? "") {
      faults.append("instant \(event.name) has no scope")
    }
    let known = Set(["X", "M", "s", "f", "i", "C"])
    faults += events.filter { !known.contains($0.ph) }.map { "phase \($0.ph)" }
    return faults
  }

  @Test("V3: slices nest, flows bind at both ends, instants have a scope, whatever the workload")
  func rules() throws {
    for seed in 0..<UInt64(Rounds.size(1_000, otherwise: 30)) {
      let faults = faults(try events(try RandomWorkload(seed: seed).run()))
      #expect(faults == [], "seed \(seed)")
      if !faults.isEmpty { return }
    }
  }

  @Test("V3: a trace has lanes, groups, dependencies, a cancel with its reason, and counters")
  func contents() throws {
    let snapshot = try Example().run()
    let events = try events(snapshot)
    #expect(faults(events) == [])
    #expect(events.count { $0.ph == "X" } == snapshot.entries.count { $0.lane != nil })
    #expect(events.count { $0.ph == "s" } >= 7)
    #expect(events.contains { $0.ph == "M" && $0.name == "process_name" })
    #expect(events.contains { $0.ph == "M" && $0.name == "thread_name" })
    let cancel = events.filter { $0.ph == "i" }
    #expect(cancel.map(\.name) == ["cancel documentation"])
    #expect(snapshot.chromeTrace().contains("\"reason\":\"not needed\""))
    let counters = Set(events.filter { $0.ph == "C" }.map(\.name))
    #expect(counters == ["slots in use", "ready"])
  }

  @Test("V3: a trace has the sum of the waits of each cause, in milliseconds")
  func waitTimes() throws {
    struct Waits: Decodable {
      struct Event: Decodable { let ph: String, name: String, args: Arguments }
      struct Arguments: Decodable { let waited_ms: [String: Double]? }
      let traceEvents: [Event]
    }
    let scenario = Scenario(limit: 1)
    let clock = scenario.queue.clock
    let asks = lasting(1, "asks")
    for seconds in [5, 1] {
      asks.add(condition: Answer(clock: clock, name: "answer \(seconds)", seconds: seconds))
    }
    scenario.queue.add(LastingProcedure(.microseconds(10_000_500)).named("first"), asks)
    let trace = Data(try scenario.run().chromeTrace().utf8)
    let events = try JSONDecoder().decode(Waits.self, from: trace).traceEvents
    let waits = events.filter { $0.ph == "X" }.map { [$0.name: $0.args.waited_ms ?? ["": 0]] }
    #expect(waits == [["first": [:]], ["asks": ["condition": 6_000, "slot": 4_000.5]]])
  }

  /// The arguments of each slice and of each cancel, and what is said of the whole.
  private struct Details: Decodable {
    struct Event: Decodable { let ph: String, name: String, args: Arguments }
    struct Arguments: Decodable { let priority: String?, waits: [Wait]?, reason: String? }
    struct Wait: Decodable {
      let cause: String, blocker: String?, blocker_id: Int?, category: String?, limit: Int?
      let group_cause: String?, at_ms: Double, ms: Double

      var text: String {
        let parts: [Any?] = [
          cause, at_ms, ms, blocker, blocker_id, category, limit, group_cause,
        ]
        return parts.compactMap { $0.map { "\($0)" } }.joined(separator: " ")
      }
    }
    struct Other: Decodable { let startTime: String?, startTimeUnixNano: String? }
    let traceEvents: [Event]
    let otherData: Other

    init(_ snapshot: ProcedureTimeline.Snapshot) throws {
      self = try JSONDecoder().decode(Self.self, from: Data(snapshot.chromeTrace().utf8))
    }
  }

  @Test("V3: a slice has its priority, and each wait with its time, its limit and its blocker")
  func details() throws {
    let scenario = Scenario(limit: 1)
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "details"))
    let (first, second, third) = (lasting(2, "first"), lasting(3, "second"), lasting(1, "third"))
    second.priority = .high
    third.add(dependency: second)
    let group = GroupProcedure(
      [1, 2].map { number in
        let child = lasting(number, "child \(number)")
        child.add(condition: AtMost(1, of: disk))
        return child
      })
    scenario.queue.add(first, second, third, group)
    let never = lasting(1, "never")
    never.priority = .veryLow
    scenario.queue.add(never)
    scenario.at(4) { never.cancel() }
    let details = try Details(try scenario.run())
    var texts: [String: [String]] = [:]
    for event in details.traceEvents where "Xi".contains(event.ph) && event.args.waits != nil {
      texts[event.name] = [event.args.priority ?? ""] + (event.args.waits ?? []).map(\.text)
    }
    #expect(
      texts == [
        "second": ["high"], "first": ["normal", "slot 0.0 3000.0 1"],
        "third": ["normal", "dependency 0.0 3000.0 second 2", "slot 3000.0 5000.0 1"],
        "GroupProcedure": ["normal", "slot 0.0 5000.0 1"],
        "child 1": ["normal", "group 0.0 5000.0 slot"],
        "child 2": ["normal", "group 0.0 5000.0 slot", "exclusion 5000.0 1000.0 child 1 5 disk"],
        "cancel never": ["veryLow", "slot 0.0 4000.0 1"],
      ])
    #expect(details.otherData.startTime == nil && details.otherData.startTimeUnixNano == nil)
  }

  @Test("V3: a trace says when it began, by the wall clock")
  func wallClock() async throws {
    let before = Date().timeIntervalSince1970
    let (queue, timeline) = (ProcedureQueue(), ProcedureTimeline())
    timeline.record(queue)
    #expect(timeline.snapshot().startSince1970 == nil)
    queue.add(BlockProcedure {})
    await queue.waitUntilAllFinished()
    let snapshot = timeline.snapshot()
    let start = try #require(snapshot.startSince1970)
    // The two clocks are read one after the other, between which the thread may stop: for less than
    // all of this took.
    let after = Date().timeIntervalSince1970
    #expect(abs(start / .seconds(1) - before) < 60 + 2 * (after - before))
    let other = try Details(snapshot).otherData
    let (seconds, attoseconds) = start.components
    #expect(
      other.startTimeUnixNano == String(seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    let date = Date(timeIntervalSince1970: (start / .seconds(1)).rounded(.down))
    #expect(other.startTime?.prefix(19) == date.formatted(.iso8601).prefix(19))
  }

  @Test("V3: the checks of these tests find what they look for")
  func checksCanFail() throws {
    func event(_ phase: String, _ ts: Double, _ dur: Double?, id: String? = nil) -> Event {
      Event(
        name: "e", cat: "c", ph: phase, ts: ts, pid: 1, tid: 1, dur: dur, id: id, bp: "e", s: nil)
    }
    #expect(faults([event("X", 0, 5), event("X", 3, 5)]) == ["e overlaps e"])
    #expect(faults([event("X", 0, nil)]) == ["e: no duration"])
    #expect(!faults([event("X", 0, 5), event("s", 0, nil, id: "1")]).isEmpty)
    #expect(
      !faults([event("X", 0, 5), event("s", 0, nil, id: "1"), event("f", 1, nil, id: "1")])
        .isEmpty)
    #expect(!faults([event("i", 0, nil)]).isEmpty)
  }
}
