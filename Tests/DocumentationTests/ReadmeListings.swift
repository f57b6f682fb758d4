// listing: first
import Procedures
// end
import ProcedureTestSupport
import ProceduresTesting
// listing: readme-timeline
import ProceduresTimeline
// end
import Testing

final class Checksum: Procedure, @unchecked Sendable {
  let bytes: [UInt8]
  private(set) var sum: UInt32 = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  override func execute() {
    for byte in bytes {
      if isCancelled { break }
      sum = sum &* 31 &+ UInt32(byte)
    }
    finish()
  }
}

@Suite("Listings of README.md", .hangLimit)
struct ReadmeListings {
  private let output = Recorder<String>()

  @Test("the first example prints its value")
  func first() async throws {
    let output = output
    @Sendable func print(_ item: any CustomStringConvertible) { output.note(item.description) }
    // listing: first
    let window = CancellationTokenSource()
    let fetch = BlockProcedure(name: "fetch") { fetch in
      for page in 1...1_000 where !fetch.isCancelled {
        print("page \(page)")
        if page == 2 { window.cancel() }  // stands for a user who closes the window now
      }
    }
    let report = BlockProcedure(name: "report") { print("all pages are here") }
    report.add(dependency: fetch, requiring: .success)

    let queue = ProcedureQueue()
    queue.add(fetch, cancelledBy: window.token)
    queue.add(report)
    await queue.waitUntilAllFinished()
    print(fetch)
    print(report)
    // end
    let readme = try #require(Document.all.first)
    let shown = try #require(readme.blocks(of: "").first)
    #expect(output.events.joined(separator: "\n") == shown)
  }

  @Test("the timeline prints where the time went")
  func timeline() throws {
    func ofProgram() -> ProcedureQueue {
      // listing: readme-timeline
      let downloads = ProcedureQueue(name: "downloads", maxConcurrentProcedureCount: 2)
      // end
      return downloads
    }
    let name = ofProgram().name
    let output = output
    func print(_ line: String) { output.note(line) }
    let simulation = ProcedureSimulation(seed: 0)
    let downloads = simulation.makeQueue(name: name, maxConcurrentProcedureCount: 2)
    // listing: readme-timeline
    let timeline = ProcedureTimeline()
    timeline.record(downloads)

    func request(_ name: String, _ seconds: Int) -> AsyncProcedure {
      AsyncProcedure(name: name) {
        try await downloads.clock.sleep(for: .seconds(seconds))  // stands for a request
      }
    }

    let pages = (1...4).map { request("page \($0)", $0) }
    let index = request("index", 1)
    index.add(dependencies: pages)
    downloads.add(pages)
    downloads.add(index)
    // end
    try simulation.run()
    // The simulation has run all of it: the program waits here.
    func wait() async {
      // listing: readme-timeline
      await downloads.waitUntilAllFinished()
      print(timeline.summary)
      // end
    }
    print(timeline.summary)
    let readme = try #require(Document.all.first)
    let shown = try #require(readme.blocks(of: "").dropFirst().first)
    #expect(shown.hasSuffix("\n…"))
    #expect(output.events.joined(separator: "\n").hasPrefix(shown.dropLast()))
  }

  @Test("an observer is added")
  func observing() async {
    let queue = ProcedureQueue()
    let checksum = Checksum([1])
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: observe
    checksum.addWillExecuteBlockObserver { checksum, _ in print("\(checksum.name) starts") }
    checksum.addDidFinishBlockObserver { checksum, errors in print("sum: \(checksum.sum)") }
    // end
    _ = await queue.run(checksum)
    #expect(output.events == ["Checksum starts", "sum: 1"])
  }
}
