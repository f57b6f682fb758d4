import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// The rules of OTLP's JSON: of Protocol Buffers' JSON, but with ids in hexadecimal, and
/// enumerations as numbers.
@Suite(.hangLimit) struct SpanTests {
  struct Request: Decodable { let resourceSpans: [ResourceSpans] }
  struct ResourceSpans: Decodable {
    let resource: Resource
    let scopeSpans: [ScopeSpans]
  }
  struct Resource: Decodable { let attributes: [Attribute] }
  struct ScopeSpans: Decodable {
    let scope: Scope
    let spans: [Span]
  }
  struct Scope: Decodable { let name: String }
  struct Span: Decodable {
    var traceId: String
    var spanId: String
    var parentSpanId: String?
    let flags: Int
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    var endTimeUnixNano: String
    let attributes: [Attribute]
    let events: [Event]
    let links: [Link]
    let status: Status
  }
  struct Event: Decodable {
    let timeUnixNano: String
    let name: String
    let attributes: [Attribute]
  }
  struct Link: Decodable {
    let traceId: String
    let spanId: String
    let attributes: [Attribute]
  }
  struct Status: Decodable {
    let code: Int?
    let message: String?
  }
  struct Attribute: Decodable {
    struct Value: Decodable {
      let stringValue: String?
      let intValue: String?
    }
    let key: String
    let value: Value

    var text: String { value.stringValue ?? value.intValue ?? "neither" }
  }

  /// The spans of all requests, each of which is read by itself.
  private func read(_ requests: [String]) throws -> [Span] {
    try requests.flatMap { request in
      #expect(!request.contains("\n"))
      let read = try JSONDecoder().decode(Request.self, from: Data(request.utf8))
      for resource in read.resourceSpans {
        #expect(
          resource.resource.attributes.map { "\($0.key) \($0.text)" } == ["service.name shop"])
      }
      return read.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans)
    }
  }

  private func read(
    _ snapshot: ProcedureTimeline.Snapshot, in traceparent: String? = nil
  ) throws -> [Span] {
    try read(snapshot.otlpRequests(service: "shop", traceparent: traceparent))
  }

  /// What a collector, or one who looks for a span, would stumble over.
  private func faults(_ spans: [Span], outside: String? = nil) -> [String] {
    var faults: [String] = []
    func isID(_ text: String, _ digits: Int) -> Bool {
      text.count == digits && text.allSatisfy("0123456789abcdef".contains)
        && text.contains { $0 != "0" }
    }
    func keys(_ attributes: [Attribute], of what: String) {
      if Set(attributes.map(\.key)).count < attributes.count {
        faults.append("\(what): a key twice")
      }
      for attribute in attributes where attribute.key.isEmpty || attribute.text == "neither" {
        faults.append("\(what): '\(attribute.key)' has no value")
      }
      for attribute in attributes {
        if let number = attribute.value.intValue, Int64(number) == nil {
          faults.append("\(what): \(number)")
        }
      }
    }
    let places = Dictionary(spans.map { ($0.spanId, $0) }) { first, _ in first }
    if places.count < spans.count { faults.append("an id twice") }
    for span in spans {
      if !isID(span.traceId, 32) { faults.append("\(span.name): trace \(span.traceId)") }
      if !isID(span.spanId, 16) { faults.append("\(span.name): span \(span.spanId)") }
      if span.name.isEmpty { faults.append("\(span.spanId): no name") }
      if span.kind != 1 { faults.append("\(span.name): kind \(span.kind)") }
      if ![nil, 2].contains(span.status.code) { faults.append("\(span.name): status") }
      guard let start = UInt64(span.startTimeUnixNano), let end = UInt64(span.endTimeUnixNano),
        0 < start, start <= end
      else {
        faults.append("\(span.name): times")
        continue
      }
      if let parent = span.parentSpanId, parent != outside {
        if places[parent]?.traceId != span.traceId { faults.append("\(span.name): its parent") }
      }
      keys(span.attributes, of: span.name)
      for event in span.events {
        guard let time = UInt64(event.timeUnixNano), (start...end).contains(time) else {
          faults.append("\(span.name): \(event.name) at \(event.timeUnixNano)")
          continue
        }
        keys(event.attributes, of: event.name)
      }
      let order = span.events.compactMap { UInt64($0.timeUnixNano) }
      if order != order.sorted() {
        faults.append("\(span.name): its events are out of order")
      }
      for link in span.links where places[link.spanId]?.traceId != link.traceId {
        faults.append("\(span.name): a link")
      }
    }
    return faults
  }

  private static let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test(
    "V3: spans follow the rules of OTLP's JSON, whatever the workload, and whichever part of it")
  func rules() throws {
    for seed in 0..<UInt64(Rounds.size(500, otherwise: 15)) {
      let snapshot = try RandomWorkload(seed: seed).run()
      let middle = snapshot.duration / 3..<snapshot.duration / 2
      for part in [snapshot, snapshot.during(middle)] {
        for header in [nil, Self.header] {
          let spans = try read(part, in: header)
          #expect(spans.count == part.entries.count)
          let faults = faults(spans, outside: "00f067aa0ba902b7")
          #expect(faults == [], "seed \(seed)")
          if !faults.isEmpty { return }
        }
      }
    }
    #expect(ProcedureTimeline().otlpRequests(service: "shop").isEmpty)
  }

  /// One of each: what failed, was cancelled in three ways, waits for a slot, and runs.
  private func shop() throws -> ProcedureTimeline.Snapshot {
    let scenario = Scenario(limit: 2)
    let queue = scenario.queue
    let stock = BlockProcedure { throw TestError("no \"lamp\" </script>") }.named("stock")
    let order = GroupProcedure(lasting(1, "cart"), stock).named("order")
    let mail = lasting(2, "mail")
    mail.add(dependency: order)
    mail.priority = .high
    let urgent = lasting(1, "urgent")
    urgent.add(dependency: order)
    urgent.priority = .veryHigh
    queue.add(order, mail, urgent)
    for name in ["asked", "error", "time"] {
      queue.add(lasting(9, name).timeout(after: .seconds(7)))
    }
    queue.add(lasting(30, "runs"), lasting(30, "runs, too"), lasting(30, "waits"))
    scenario.at(2) { queue.procedures.first { $0.name == "asked" }?.cancel() }
    scenario.at(3) {
      queue.procedures.first { $0.name == "error" }?.cancel(withError: TestError("full"))
    }
    try scenario.simulation.run(for: .seconds(15))
    return scenario.timeline.snapshot()
  }

  @Test("V3: spans say how each ended: failed, cancelled, or not at all")
  func ends() throws {
    let spans = try read(try shop())
    #expect(faults(spans) == [])
    let ends = spans.map { span in
      let outcome = span.attributes.first { $0.key == "procedure.outcome" }?.text ?? ""
      return "\(span.name) \(outcome) \(span.status.code ?? 0): \(span.status.message ?? "")"
    }
    #expect(
      ends == [
        "order failed 2: Child 'stock': no \"lamp\" </script>", "cart succeeded 0: ",
        "stock failed 2: no \"lamp\" </script>", "mail succeeded 0: ", "urgent succeeded 0: ",
        "asked cancelled 0: ", "error cancelled 2: full",
        "time cancelled 2: 'time' did not finish within 7 s and was cancelled; give it more time, or less to do.",
        "runs running 0: ", "runs, too running 0: ", "waits waiting 0: ",
      ])
  }

  @Test(
    "V3: spans have the queue, the priority, waits in numbers, links to dependencies, and the parent"
  )
  func contents() throws {
    let spans = try read(try shop())
    let byName = Dictionary(uniqueKeysWithValues: spans.map { ($0.name, $0) })
    let (order, mail) = (try #require(byName["order"]), try #require(byName["mail"]))
    // A procedure on the queue is a trace, and its children are in it.
    #expect(order.parentSpanId == nil && mail.parentSpanId == nil)
    #expect(order.traceId != mail.traceId && order.flags == 1)
    for child in ["cart", "stock"] {
      #expect(byName[child]?.parentSpanId == order.spanId)
      #expect(byName[child]?.traceId == order.traceId)
    }
    #expect(mail.links.map(\.spanId) == [order.spanId])
    #expect(mail.links.map(\.traceId) == [order.traceId])
    #expect(mail.links.flatMap(\.attributes).map(\.text) == ["dependency"])
    func texts(_ attributes: [Attribute]) -> [String] { attributes.map { "\($0.key) \($0.text)" } }
    #expect(
      texts(mail.attributes) == [
        "procedure.id 4", "procedure.type LastingProcedure", "procedure.kind procedure",
        "procedure.queue queue", "procedure.priority high", "procedure.outcome succeeded",
        "procedure.waited_ns 2000000000", "procedure.ran_ns 2000000000",
      ])
    let second: UInt64 = 1_000_000_000
    let year2000 = 946_684_800 * second
    #expect(mail.startTimeUnixNano == String(year2000))
    let events = mail.events.map { "\(UInt64($0.timeUnixNano)! - year2000) \($0.name)" }
    #expect(events == ["0 wait: dependency", "1000000000 wait: slot", "2000000000 started"])
    #expect(
      texts(mail.events[1].attributes) == [
        "procedure.wait.cause slot", "procedure.wait.duration_ns 1000000000",
        "procedure.wait.text 1 s, of queue 'queue' (limit 2)", "procedure.wait.limit 2",
      ])
    #expect(
      texts(mail.events[0].attributes) == [
        "procedure.wait.cause dependency", "procedure.wait.duration_ns 1000000000",
        "procedure.wait.text 1 s, for 'order'", "procedure.wait.blocker order",
        "procedure.wait.blocker_id 1",
      ])
    let errors = byName["error"]?.events.filter { $0.name == "exception" } ?? []
    #expect(
      errors.map { texts($0.attributes) } == [
        ["exception.type TestError", "exception.message full"]
      ])
    let cancels = byName["asked"]?.events.filter { $0.name == "cancelled" } ?? []
    #expect(cancels.map { texts($0.attributes) } == [["procedure.reason requested"]])
    // What has not finished ends with the snapshot.
    #expect(byName["runs"]?.endTimeUnixNano == String(year2000 + 15 * second))
  }

  @Test("V3: children of a recorded group are one trace, or part of the caller's")
  func ofGroup() throws {
    let simulation = ProcedureSimulation(seed: 1)
    let timeline = ProcedureTimeline()
    let group = GroupProcedure(
      lasting(1, "a"), GroupProcedure(lasting(1, "c")).named("b")
    ).named("order")
    timeline.record(group)
    simulation.makeQueue().add(group)
    try simulation.run()
    let snapshot = timeline.snapshot()
    let own = try read(snapshot)
    #expect(faults(own) == [] && Set(own.map(\.traceId)).count == 1)
    #expect(own.map { $0.parentSpanId == nil } == [true, true, false])
    let continued = try read(snapshot, in: Self.header)
    #expect(Set(continued.map(\.traceId)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
    #expect(continued.map(\.spanId) == own.map(\.spanId))
    #expect(continued[0].parentSpanId == "00f067aa0ba902b7")
    #expect(continued[2].parentSpanId == own[1].spanId)
    #expect(try read(snapshot, in: Self.header.dropLast(2) + "00")[0].flags == 0)
    // A later version may have more fields.
    #expect(
      try read(snapshot, in: "01" + Self.header.dropFirst(2) + "-x")[0].traceId != own[0].traceId)
  }

  @Test(
    "V3: a header that is none of W3C's is ignored",
    arguments: [
      "", "-", "---", "x", header + "-x", "ff" + header.dropFirst(2), header.uppercased(),
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-+1",
      "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
      String(repeating: "-", count: 9_999),
    ])
  func noHeader(header: String) throws {
    let scenario = Scenario()
    scenario.queue.add(lasting(1, "a"))
    let snapshot = try scenario.run()
    #expect(
      snapshot.otlpRequests(service: "shop", traceparent: header)
        == snapshot.otlpRequests(service: "shop"))
  }

  @Test("V3: procedures that have finished since a snapshot are exported once, in the same traces")
  func since() throws {
    let scenario = Scenario(limit: 2)
    var last = scenario.timeline.snapshot()
    scenario.queue.add(
      GroupProcedure((1...6).map { lasting($0, "child \($0)") }).named("group"), lasting(9, "long"))
    var seen: [Span] = []
    for _ in 0..<8 {
      try scenario.simulation.run(for: .seconds(3))
      let now = scenario.timeline.snapshot()
      seen += try read(now.otlpRequests(service: "shop", since: last))
      last = now
    }
    #expect(faults(seen) == [])
    #expect(seen.count == 8 && Set(seen.map(\.traceId)).count == 2)
    let whole = try read(last)
    #expect(Set(whole.map { $0.traceId + $0.spanId }) == Set(seen.map { $0.traceId + $0.spanId }))
    #expect(last.otlpRequests(service: "shop", since: last).isEmpty)
  }

  @Test("V3: each finished procedure is exported once on real threads")
  func sinceOnThreads() async throws {
    let (queue, timeline) = (ProcedureQueue(maxConcurrentProcedureCount: 3), ProcedureTimeline())
    timeline.record(queue)
    var last = timeline.snapshot()
    let count = Rounds.size(10_000, otherwise: 300)
    let adding = Task { @concurrent in
      for number in 0..<count {
        queue.add(
          number % 4 == 0
            ? AsyncProcedure { @concurrent in await Task.yield() }
            : GroupProcedure(BlockProcedure {}))
      }
      await queue.waitUntilAllFinished()
    }
    var seen: [Span] = []
    for _ in 0..<20 {
      let now = timeline.snapshot()
      seen += try read(now.otlpRequests(service: "shop", since: last))
      last = now
      await Task.yield()
    }
    await adding.value
    seen += try read(timeline.snapshot().otlpRequests(service: "shop", since: last))
    // Each group with its child, each closure alone.
    #expect(seen.count == 2 * count - (count + 3) / 4)
    #expect(faults(seen) == [])
  }

  @Test("V3: a virtual clock may be some centuries ahead")
  func extremes() throws {
    for years in [80, 250, 280, 290, 10_000] {
      let (scheduler, clock, timeline) = (ManualScheduler(), TestClock(), ProcedureTimeline())
      let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
      timeline.record(queue)
      let long = BlockProcedure { clock.advance(by: .seconds(years * 31_557_600)) }.named("long")
      queue.add(long, BlockProcedure {}.named("next"))
      scheduler.run()
      let spans = try read(timeline.otlpRequests(service: "shop"))
      #expect(faults(spans) == [], "\(years) years")
      #expect(spans.map(\.name) == ["long", "next"])
    }
  }

  @Test(
    "V3: ids are the same in each snapshot, and others in each timeline; times are the wall clock's"
  )
  func identity() async throws {
    func record() async -> (ProcedureTimeline, [ProcedureTimeline.Snapshot]) {
      let (queue, timeline) = (ProcedureQueue(), ProcedureTimeline())
      timeline.record(queue)
      for _ in 0..<20 { queue.add(GroupProcedure(BlockProcedure {})) }
      await queue.waitUntilAllFinished()
      return (timeline, [timeline.snapshot(), timeline.snapshot()])
    }
    let before = Date().timeIntervalSince1970
    let (timeline, snapshots) = await record()
    let after = Date().timeIntervalSince1970
    let ids = try snapshots.map { try read($0).map { $0.traceId + $0.spanId } }
    #expect(ids[0] == ids[1] && Set(ids[0]).count == 40)
    let others = try read(await record().1[0])
    #expect(Set(ids[0]).isDisjoint(with: others.map { $0.traceId + $0.spanId }))
    let spans = try read(timeline.otlpRequests(service: "shop"))
    #expect(faults(spans) == [])
    let start = try #require(UInt64(spans[0].startTimeUnixNano))
    // The two clocks are read one after the other, between which the thread may stop: for less than
    // all of this took.
    let apart = 60 + 2 * (Date().timeIntervalSince1970 - before)
    #expect(before - 1 <= Double(start) / 1e9 && Double(start) / 1e9 <= after + apart)
    let startOfSnapshot = try #require(snapshots[0].startSince1970)
    #expect(abs(startOfSnapshot / .seconds(1) - Double(start) / 1e9) < apart)
  }

  @Test("V3: no request is much larger than 3 MiB, and each is whole")
  func sizes() throws {
    let scenario = Scenario()
    let long = String(repeating: "\u{1}é\u{2028}\"", count: 20_000)
    for number in 0..<10 {
      scenario.queue.add(BlockProcedure { throw TestError(long) }.named("\(number) " + long))
    }
    let snapshot = try scenario.run()
    let requests = snapshot.otlpRequests(service: "shop")
    #expect(requests.count > 2 && requests.allSatisfy { $0.utf8.count < 4 << 20 })
    let spans = try read(requests)
    #expect(spans.count == 10 && faults(spans) == [])
    #expect(spans[0].name == "0 " + long)
  }

  @Test("V3: four times as many are written in four times the time, as spans and as a trace")
  func cost() async {
    let count = Rounds.size(20_000, otherwise: 250)
    func chain(of count: Int) async -> ProcedureTimeline.Snapshot {
      let (queue, timeline) = (ProcedureQueue(), ProcedureTimeline(capacity: 1_000_000))
      timeline.record(queue)
      var last: Procedure?
      for number in 0..<count {
        let procedure = BlockProcedure { if number % 4 == 0 { throw TestError("no") } }
        if let last { procedure.add(dependency: last) }
        last = procedure
        queue.add(number % 3 == 0 ? GroupProcedure(procedure) : procedure)
      }
      await queue.waitUntilAllFinished()
      return timeline.snapshot()
    }
    let snapshots = [count: await chain(of: count), 4 * count: await chain(of: 4 * count)]
    #expect(growth(from: count) { _ = snapshots[$0]!.otlpRequests(service: "shop") } < 8)
    #expect(growth(from: count) { _ = snapshots[$0]!.chromeTrace() } < 8)
  }

  @Test("V3: the checks of these tests find what they look for")
  func checksCanFail() throws {
    let good = try read(try shop())
    func changed(_ change: (inout Span) -> Void) -> [String] {
      var spans = good
      change(&spans[1])
      return faults(spans)
    }
    #expect(changed { $0.traceId = "0af7" }.count == 2)
    #expect(changed { $0.spanId = good[0].spanId }.contains("an id twice"))
    #expect(changed { $0.spanId = "0000000000000000" } == ["cart: span 0000000000000000"])
    #expect(changed { $0.parentSpanId = good[3].spanId } == ["cart: its parent"])
    #expect(changed { $0.endTimeUnixNano = "1" } == ["cart: times"])
  }
}
