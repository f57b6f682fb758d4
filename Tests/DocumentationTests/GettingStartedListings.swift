// listing: start-subclass
import Procedures
// end
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

// listing: start-names
func fetchTexts() async throws -> [String] { ["to be", "or not to be"] }
// end

@Suite("Listings of the guide GettingStarted", .hangLimit)
struct GettingStartedListings {
  @Test("a procedure runs, and has an outcome")
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

  @Test("closures have names, a value and an order")
  func names() async throws {
    let queue = ProcedureQueue()
    let output = Recorder<String>()
    @Sendable func print(_ item: Any) { output.note("\(item)") }
    // listing: start-names
    let fetch = AsyncResultProcedure(name: "fetch") { try await fetchTexts() }
    let sort = TransformProcedure<[String], [String]> { texts in texts.sorted() }.named("sort")
    sort.injectResult(from: fetch)
    let note = BlockProcedure(name: "note") { print("sorted, or not") }
    note.add(dependency: sort)
    queue.add(note, GroupProcedure(name: "prepare", fetch, sort))  // in any order
    print(try await sort.value)
    // end
    await queue.waitUntilAllFinished()
    #expect(Set(output.events) == ["sorted, or not", #"["or not to be", "to be"]"#])
    #expect([fetch, sort].map(\.name) == ["fetch", "sort"])
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
    @Sendable func print(_ line: any CustomStringConvertible) { output.note(line.description) }
    // listing: start-diagnostics
    queue.diagnosticsHandler = { diagnostic in print("\(diagnostic)") }
    print(queue.snapshot())
    // end
    let count = CountWords("a")
    count.name = "early"
    queue.add(count)
    #expect(!count.finish())
    #expect(
      output.events.last
        == "finish() on 'early' was refused: it has not started; cancel it instead.")
    count.cancel()
    await queue.waitUntilAllFinished()
  }
}
