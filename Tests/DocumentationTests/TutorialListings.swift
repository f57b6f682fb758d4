import Cancellation
import ProcedureTestSupport
// listing: tutorial-timeline
import ProceduresTesting
import ProceduresTimeline
// end
import Testing

#if TSAN
  import ProcedurePrimitives
  /// ThreadSanitizer does not see into that of `Synchronization` when two threads want it: see
  /// `Locked`.
  private typealias Mutex = Locked
#endif

// listing: tutorial-site
import Procedures
import Synchronization

/// Stands for a server. A page takes a second, "/b" two; the first request for "/b" is refused.
final class Site: Sendable {
  struct Busy: Error {}

  private struct State {
    var requests: [String: Int] = [:]
    var open = 0
  }

  private let clock: any Clock<Duration>
  private let state = Mutex(State())

  init(clock: any Clock<Duration>) { self.clock = clock }

  /// How many requests are being answered now.
  var openRequests: Int { state.withLock { $0.open } }

  func fetch(_ path: String) async throws -> String {
    let number = state.withLock { state in
      state.open += 1
      state.requests[path, default: 0] += 1
      return state.requests[path]!
    }
    defer { state.withLock { $0.open -= 1 } }
    try await clock.sleep(for: .seconds(path == "/b" ? 2 : 1))
    if path == "/b", number == 1 { throw Busy() }
    return "text of \(path)"
  }
}
// end

// listing: tutorial-downloads
final class Downloads: GroupProcedure, @unchecked Sendable {
  let pages: [RetryProcedure<AsyncResultProcedure<String>>]

  init(_ paths: [String], from site: Site) {
    pages = paths.map { path in
      RetryProcedure(name: path, max: 3, wait: .constant(.seconds(1))) {
        AsyncResultProcedure(name: "request \(path)") { try await site.fetch(path) }
      }
    }
    super.init(name: "downloads", children: pages)
    maxConcurrentChildCount = 2
  }
}
// end

@Suite("Listings of the tutorial", .hangLimit)
struct TutorialListings {
  private let output = Recorder<String>()

  private func print(_ item: Any) { output.note("\(item)") }

  @Test("step 1: pages with a limit and a retry, together, with progress, and cancelled")
  func first() async throws {
    let clock = TestClock()
    /// The queue of the listing, in virtual time.
    @Sendable func ProcedureQueue() -> Procedures.ProcedureQueue {
      Procedures.ProcedureQueue(clock: clock.clock)
    }
    async let done: Void = {
      // listing: tutorial-run
      let queue = ProcedureQueue()
      let site = Site(clock: queue.clock)
      let downloads = Downloads(["/a", "/b", "/c", "/d"], from: site)
      let updates = downloads.progressUpdates
      queue.add(downloads)
      for await fraction in updates { print("\(Int(fraction * 100)) %") }
      for page in downloads.pages { print(try await page.value) }
      // end
    }()
    while output.events.last != "text of /d" {
      clock.runUntilIdle()
      await Task.yield()
    }
    try await done
    #expect(output.events.suffix(4) == ["/a", "/b", "/c", "/d"].map { "text of \($0)" })
    #expect(output.events.contains("100 %"))
  }

  @Test("step 1: a cancel from outside ends what is on the way, and what waits")
  func cancel() async throws {
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    let site = Site(clock: queue.clock)
    // listing: tutorial-cancel
    let stop = CancellationTokenSource()
    let stopped = Downloads(["/a", "/b", "/c", "/d"], from: site)
    queue.add(stopped, cancelledBy: stop.token)
    stop.cancel()  // when a button is pressed, a window closes, a deadline passes
    let outcome = await stopped.waitUntilFinished()
    print(outcome)  // cancelled
    // end
    #expect(output.events == ["cancelled"])
  }

  // listing: tutorial-test
  @Test("never more than two requests at once, and every page arrives")
  func pagesArrive() throws {
    try ProcedureSimulation.explore(seeds: 0..<100) { simulation in
      let queue = simulation.makeQueue()
      let site = Site(clock: queue.clock)
      let downloads = Downloads(["/a", "/b", "/c", "/d"], from: site)
      simulation.always("at most two requests") { site.openRequests <= 2 }
      queue.add(downloads)
      try simulation.run()
      try simulation.expect(downloads.outcome == .succeeded, "\(downloads)")
    }
  }

  @Test("whenever it is cancelled, no request is left open")
  func cancelLeavesNothing() throws {
    try ProcedureSimulation.explore(seeds: 0..<100) { simulation in
      let queue = simulation.makeQueue()
      let site = Site(clock: queue.clock)
      let downloads = Downloads(["/a", "/b", "/c", "/d"], from: site)
      queue.add(downloads)
      let time = Duration.milliseconds(simulation.random(in: 0...6_000))
      simulation.perform("cancel", after: time) { downloads.cancel() }
      try simulation.run()
      try simulation.expect(site.openRequests == 0, "\(site.openRequests) requests are open")
    }
  }
  // end

  @Test("step 3: its timeline says what to change")
  func timeline() throws {
    // listing: tutorial-timeline
    let simulation = ProcedureSimulation(seed: 1)
    let simulated = simulation.makeQueue()
    let timeline = ProcedureTimeline()
    timeline.record(simulated)
    simulated.add(Downloads(["/a", "/b", "/c", "/d"], from: Site(clock: simulated.clock)))
    try simulation.run()
    print(timeline.summary)
    // end
    // As the tutorial shows it.
    let page = try #require(Document.all.first { $0.path.hasSuffix("/Tutorial.md") })
    let shown = try #require(page.blocks(of: "").first { $0.hasPrefix("6 procedures") })
    let lines = (output.events.first ?? "").split(separator: "\n")
    for line in shown.split(separator: "\n") where !line.hasPrefix("…") {
      // Without the spaces at the ends of lines, and of the whole block.
      let words = line.drop { $0 == " " }
      #expect(lines.contains { $0.drop { $0 == " " } == words }, "\(line)")
    }
  }
}
