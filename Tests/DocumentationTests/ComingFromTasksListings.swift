// listing: tasks-twice
import Procedures
import ProceduresProcess
// end
import ProcedureTestSupport
import ProceduresTesting
import Testing

// listing: tasks-twice
/// Stands for a server whose pages have four words each.
struct Server: Sendable {
  func page(_ number: Int) async throws -> String {
    try await Task.sleep(for: .milliseconds(1))
    return "the text of \(number)"
  }
}

func countWithTasks(_ pages: Range<Int>, on server: Server) async throws -> Int {
  try await withThrowingTaskGroup(of: Int.self) { group in
    var waiting = pages.makeIterator()
    var total = 0
    for _ in 0..<4 {
      guard let page = waiting.next() else { break }
      group.addTask { try await server.page(page).split(separator: " ").count }
    }
    while let count = try await group.next() {
      total += count
      guard let page = waiting.next() else { continue }
      group.addTask { try await server.page(page).split(separator: " ").count }
    }
    return total
  }
}
// end

// listing: tasks-procedures
func countWithProcedures(_ pages: Range<Int>, on server: Server) async throws -> Int {
  try await withProcedureQueue(maxConcurrentProcedureCount: 4) { queue in
    let counts = pages.map { page in
      AsyncResultProcedure(name: "page \(page)") {
        try await server.page(page).split(separator: " ").count
      }
    }
    queue.add(counts)
    return try await queue.value(of: counts.gathered()).reduce(0, +)
  }
}
// end

@Suite("Listings of the guide ComingFromTasks", .hangLimit)
struct ComingFromTasksListings {
  private let output = Recorder<String>()

  @Test("a task group and procedures make the same program")
  func twice() async throws {
    let output = output
    func print(_ count: Int) { output.note("\(count)") }
    // listing: tasks-twice
    print(try await countWithTasks(0..<20, on: Server()))  // 80
    // end
    // listing: tasks-procedures
    print(try await countWithProcedures(0..<20, on: Server()))  // 80
    // end
    #expect(output.events == ["80", "80"])
  }

  @Test("a shutdown lets all go on that ends in time")
  func shutdown() async throws {
    let clock = TestClock()
    let output = output
    func print(_ line: String) { output.note(line) }
    /// The queue of the listing, in virtual time.
    func ProcedureQueue(name: String, maxConcurrentProcedureCount: Int) -> Procedures.ProcedureQueue
    {
      Procedures.ProcedureQueue(
        name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount, clock: clock.clock)
    }
    let advancing = Task {
      while !Task.isCancelled {
        clock.runUntilIdle()
        await Task.yield()
      }
    }
    defer { advancing.cancel() }
    // listing: tasks-shutdown
    let jobs = ProcedureQueue(name: "jobs", maxConcurrentProcedureCount: 4)
    for number in 0..<20 {
      let job = AsyncProcedure { try await jobs.clock.sleep(for: .seconds(1)) }
      job.name = "job \(number)"
      jobs.add(job)
    }
    await withCancellationToken(signals: .terminate, .interrupt) { stop in
      _ = try? await withTask(cancelledBy: stop) { await jobs.waitUntilAllFinished() }
    }
    await jobs.drain(grace: .seconds(2))
    print("\(jobs.count) jobs left")  // 0
    // end
    #expect(output.events == ["0 jobs left"])
  }
}
