import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresProcess
import ProceduresTesting
// listing: timeline-record
import ProceduresTimeline
// end
import Testing

@Suite("Listings of the guide Finding the slow part", .hangLimit)
struct TimelineListings {
  private let output = Recorder<String>()

  private func print(_ item: Any) { output.note("\(item)") }

  private func lasting(_ seconds: Int, _ name: String) -> LastingProcedure {
    LastingProcedure(.seconds(seconds)).named(name)
  }

  @Test("a timeline is recorded, shown and asked")
  func record() throws {
    func ofProgram() -> ProcedureQueue {
      // listing: timeline-record
      let queue = ProcedureQueue(name: "shop", maxConcurrentProcedureCount: 2)
      // end
      return queue
    }
    let simulation = ProcedureSimulation(seed: 1)
    let queue = simulation.makeQueue(name: ofProgram().name, maxConcurrentProcedureCount: 2)
    // listing: timeline-record
    let timeline = ProcedureTimeline()
    timeline.record(queue)

    func step(_ name: String, _ seconds: Int) -> AsyncProcedure {
      AsyncProcedure(name: name) {
        try await queue.clock.sleep(for: .seconds(seconds))  // stands for the work
      }
    }

    let (fetch, parse, store) = (step("fetch", 3), step("parse", 4), step("store", 4))
    parse.add(dependency: fetch)
    store.add(dependency: parse)
    queue.add(fetch, parse, step("thumbnails", 5), store)
    // end
    try simulation.run()
    // The simulation has run all of it: the program waits here.
    func wait() async {
      // listing: timeline-record
      await queue.waitUntilAllFinished()
      print(timeline.summary)
      // end
    }
    print(timeline.summary)
    let guide = try #require(Document.all.first { $0.path.hasSuffix("/FindingOutWhy.md") })
    let shown = try #require(guide.blocks(of: "").first { $0.hasPrefix("4 procedures") })
    #expect(shown.hasSuffix("\n…"))
    #expect(output.events[0].hasPrefix(shown.dropLast()), "\(output.events[0])")
    // listing: timeline-ask
    let snapshot = timeline.snapshot()
    for step in snapshot.criticalPath {
      print("\(step.entry.name), after the one before by \(step.link)")
    }
    for share in snapshot.criticalPathShares {
      print("\(share.kind), \(share.name ?? "all of it"): \(share.total)")
    }
    for wait in snapshot.waits {
      print("\(wait.count) procedures waited \(wait.total) for \(wait.cause.label)")
    }
    // end
    #expect(
      output.events.dropFirst() == [
        "fetch, after the one before by beginning",
        "parse, after the one before by dependency",
        "store, after the one before by dependency",
        "work, all of it: 11.0 seconds",
        "2 procedures waited 10.0 seconds for dependency",
      ])
    // listing: timeline-narrow
    for runs in snapshot.byName {
      print("\(runs.count) × \(runs.name), half of them within \(runs.median)")
    }
    if let slow = snapshot.slowest(1).first, let its = snapshot.during(slow.id) {
      print(its.verdict)
    }
    // end
    #expect(output.events.contains("1 × thumbnails, half of them within 5.0 seconds"))
    let post = { (request: String) in print(request) }
    var last = ProcedureTimeline().snapshot()
    // listing: timeline-spans
    let now = timeline.snapshot()
    for request in now.otlpRequests(service: "shop", since: last) { post(request) }
    last = now
    // end
    #expect(output.events.last?.contains(#""name":"thumbnails""#) == true)
    #expect(timeline.snapshot().otlpRequests(service: "shop", since: last).isEmpty)
    // listing: timeline-expect
    try timeline.expect(order: "fetch", "parse")
    try timeline.expect(overlap: "parse", "thumbnails")
    try timeline.expect(criticalPath: "fetch", "parse", "store")
    // end
  }

  #if os(macOS) || os(Linux)
    @Test("a program that hangs says what it waits for, when it gets a signal")
    func hanging() async throws {
      let (queue, timeline) = (ProcedureQueue(name: "hangs"), ProcedureTimeline())
      timeline.record(queue)
      let (lost, waits) = (ManualProcedure(name: "lost"), lasting(1, "waits"))
      waits.add(dependency: lost)
      queue.add(lost, waits)
      try await lost.executing(within: .seconds(1_000))
      // listing: timeline-hang
      CancellationToken.signals(.quit).onCancel { print(timeline.summary) }
      // end
      let isPrinted = CancellationToken.signals(.quit)
      kill(getpid(), SIGQUIT)
      #expect(await isPrinted.waitUntilCancelled())
      while output.events.isEmpty { await Task.yield() }
      #expect(output.events[0].contains("2 not finished"))
      #expect(output.events[0].contains("waits: dependency, for 'lost'"), "\(output.events)")
      lost.finish()
      await queue.waitUntilAllFinished()
    }
  #endif

  #if canImport(os)
    @Test("signposts show procedures in Instruments")
    func signposts() async {
      let queue = ProcedureQueue()
      // listing: timeline-signposts
      queue.emitSignposts(subsystem: "com.example.shop")
      // end
      let outcome = await queue.run(lasting(0, "shown"))
      #expect(outcome.isSuccess)
    }
  #endif
}
