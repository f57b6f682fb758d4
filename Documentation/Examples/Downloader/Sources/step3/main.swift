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

import ProceduresTesting
import ProceduresTimeline

let simulation = ProcedureSimulation(seed: 1)
let simulated = simulation.makeQueue()
let timeline = ProcedureTimeline()
timeline.record(simulated)
simulated.add(Downloads(["/a", "/b", "/c", "/d"], from: Site(clock: simulated.clock)))
try simulation.run()
print(timeline.summary)
