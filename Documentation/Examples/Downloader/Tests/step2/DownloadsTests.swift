import ProceduresTesting
import Testing

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
