import Procedures
import ProcedureTestSupport
import Testing

// listing: start-subclass
final class CountWords: Procedure, @unchecked Sendable {
  struct NoText: Error {}

  private let text: String
  private(set) var count = 0

  init(_ text: String) {
    self.text = text
    super.init()
    name = "count the words"
  }

  override func execute() {
    count = text.split(whereSeparator: \.isWhitespace).count
    finish(withError: count == 0 ? NoText() : nil)
  }
}
// end

@Suite("Listings of the guide GettingStarted")
struct GettingStartedListings {
  @Test("run one, and look at how it ended")
  func run() async {
    let output = Recorder<String>()
    func print(_ line: String) { output.note(line) }
    // listing: start-run
    let queue = ProcedureQueue(name: "texts", maxConcurrentProcedureCount: 2)
    let count = CountWords("to be or not to be")
    let outcome = await queue.run(count)
    print("\(count.name): \(count.count), \(outcome)")
    // end
    #expect(output.events == ["count the words: 6, succeeded"])
    let failed = await queue.run(CountWords(" "))
    #expect(failed == .failed([CountWords.NoText()]))
  }

  @Test("names are given at creation, or in the middle of an expression")
  func names() async {
    let queue = ProcedureQueue()
    let output = Recorder<String>()
    @Sendable func fetchTexts() async throws { output.note("fetch") }
    @Sendable func sortTexts() { output.note("sort") }
    // listing: start-names
    let fetch = AsyncProcedure(name: "fetch") { try await fetchTexts() }
    let sort = BlockProcedure(name: "sort") { sortTexts() }
    sort.add(dependency: fetch)
    let prepare = GroupProcedure(name: "prepare", fetch, sort)
    queue.add(prepare, CountWords("a text").named("count the rest"))
    // end
    let names = queue.procedures.map(\.name)
    #expect(Set(["prepare", "count the rest"]).isSuperset(of: names))
    await queue.waitUntilAllFinished()
    #expect(output.events == ["fetch", "sort"])
    #expect([fetch, sort, prepare].map(\.name) == ["fetch", "sort", "prepare"])
  }

  @Test("a dependency hands over a value")
  func dependency() async {
    let queue = ProcedureQueue()
    let output = Recorder<String>()
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: start-dependency
    let count = CountWords("to be or not to be")
    let report = BlockProcedure {
      if case .succeeded? = count.outcome { print("\(count.count) words") }
    }
    report.add(dependency: count)
    queue.add(report, count)  // in any order
    // end
    await queue.waitUntilAllFinished()
    #expect(output.events == ["6 words"])
  }

  @Test("a queue is closed, and drained")
  func close() async {
    let queue = ProcedureQueue()
    let output = Recorder<String>()
    func print(_ isAccepted: Bool) { output.note("\(isAccepted)") }
    // listing: start-close
    queue.close()
    let isAccepted = queue.add(CountWords("too late"))
    print(isAccepted)  // false
    await queue.drain()
    // end
    #expect(output.events == ["false"])
  }

  @Test("misuse is reported")
  func diagnostics() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let output = Recorder<String>()
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: start-diagnostics
    queue.diagnosticsHandler = { diagnostic in print("\(diagnostic)") }
    // end
    let count = CountWords("a")
    count.name = "early"
    queue.add(count)
    #expect(!count.finish())
    #expect(
      output.events == [
        "finish() on 'early' was refused: it has not started; cancel it instead."
      ])
    count.cancel()
    await queue.waitUntilAllFinished()
  }
}
