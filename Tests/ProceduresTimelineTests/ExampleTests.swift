import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresTimeline
import Testing

/// What the page and the trace of an example are, and, with `TIMELINE_FILES` set to a folder, there
/// to be looked at: `example.html`, `example.json`, `causes.html`, `large.html`.
@Suite(.hangLimit) struct ExampleTests {
  private let folder = ProcessInfo.processInfo.environment["TIMELINE_FILES"]

  private func write(_ text: String, _ name: String) throws {
    guard let folder else { return }
    try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
  }

  @Test("V3: an example is written as a page, and as a trace")
  func example() throws {
    let snapshot = try Example().run()
    try write(snapshot.html(title: "A build"), "example.html")
    try write(snapshot.chromeTrace(), "example.json")
    #expect(snapshot.html().utf8.count < 80_000)
  }

  @Test("V3: an example that waits for each cause is written as a page")
  func causes() throws {
    let snapshot = try Example.ofAllCauses()
    try write(snapshot.html(title: "Each cause"), "causes.html")
    let seen = Set(snapshot.waits.map(\.cause))
    // In virtual time a worker comes at once, observers take none, and a simulation has no main
    // actor.
    #expect(seen == Set(WaitCause.allCases).subtracting([.worker, .observer, .mainActor]))
  }

  @Test("V3: many procedures are written in a size that grows with them")
  func large() async throws {
    let count = folder == nil ? Rounds.size(100_000, otherwise: 1_000) : 100_000
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 4)
    let timeline = ProcedureTimeline(capacity: 200_000)
    timeline.record(queue)
    for number in 0..<count { queue.add(BlockProcedure {}.named("step \(number)")) }
    await queue.waitUntilAllFinished()
    let snapshot = timeline.snapshot()
    #expect(snapshot.entries.count == count)
    let page = snapshot.html()
    #expect(page.utf8.count < 50_000 + count * 200)
    #expect(!snapshot.criticalPath.isEmpty)
    try write(page, "large.html")
  }

  /// What stands before and after the data of a page, without its title.
  private static func frame(of page: String) throws -> (before: String, data: String, after: String)
  {
    let parts = page.components(separatedBy: "id=\"data\">")
    let rest = try #require(parts.last).components(separatedBy: "</script>")
    let data = try #require(rest.first)
    return (try #require(parts.first), data, rest.dropFirst().joined(separator: "</script>"))
  }

  @Test("V3: the page of the documentation is as this version writes it, and no larger than 300 KB")
  func documentation() throws {
    let file = URL.packageRoot.appending(path: "Documentation/Examples/brotli-and-zstd.html")
    let title = "brotli-and-zstd.json"
    let current = try Self.frame(of: ProcedureTimeline().html(title: title))
    let written = try String(contentsOf: file, encoding: .utf8)
    let data = try Self.frame(of: written).data
    let page = current.before + "id=\"data\">" + data + "</script>" + current.after
    if ProcessInfo.processInfo.environment["UPDATE_INDEX"] != nil {
      try page.write(to: file, atomically: true, encoding: .utf8)
    }
    let isCurrent = try String(contentsOf: file, encoding: .utf8) == page
    #expect(isCurrent, "'UPDATE_INDEX=1 swift test --filter ExampleTests' writes it again")
    #expect(page.utf8.count < 300_000)
  }
}
