// listing: groups-subclass
import Procedures
// end
import ProcedureTestSupport
import Testing

// listing: groups-subclass
final class CountAll: GroupProcedure, @unchecked Sendable {
  struct NoText: Error {}

  private let texts: [String]

  init(_ texts: [String]) {
    self.texts = texts
    super.init(children: [])
    maxConcurrentChildCount = 4
  }

  override func execute() {
    for text in texts {
      let count = ResultProcedure(name: "count '\(text)'") {
        if text.isEmpty { throw NoText() }
        return text.split(separator: " ").count
      }
      add(child: count)
    }
    super.execute()
  }

  var total: Int {
    let counts = children.compactMap { try? ($0 as? ResultProcedure<Int>)?.output?.get() }
    return counts.reduce(0, +)
  }
}
// end

// listing: groups-recover
struct NoNetwork: Error {}
// end

// listing: groups-spare
final class FetchWithSpare: GroupProcedure, @unchecked Sendable {
  private let spare: @Sendable () -> Procedure

  init(_ fetch: Procedure, orElse spare: @escaping @Sendable () -> Procedure) {
    self.spare = spare
    super.init(children: [fetch])
  }

  override func child(
    _ child: Procedure, willFinishWithErrors errors: [any Error]
  ) -> [any Error] {
    guard child === children.first, !errors.isEmpty else { return errors }
    add(child: spare())
    return []
  }
}
// end

@Suite("Listings of the guide Groups", .hangLimit)
struct GroupListings {
  private let queue = ProcedureQueue()

  @Test("a subclass adds children")
  func subclass() async {
    let output = Recorder<Int>()
    func print(_ number: Int) { output.note(number) }
    // listing: groups-run
    let queue = ProcedureQueue()
    let count = CountAll(["to be", "or not to be"])
    _ = await queue.run(count)
    print(count.total)  // 6
    // end
    #expect(output.events == [6])
  }

  @Test("a group's errors name the child")
  func errors() async {
    let output = Recorder<String>()
    func print(_ line: String) { output.note(line) }
    // listing: groups-errors
    let empty = CountAll(["to be", ""])
    _ = await queue.run(empty)
    for case let error as ProcedureError in empty.errors where error.code == .child {
      print("\(error.procedure!): \(error.underlyingErrors[0])")  // count '': NoText()
    }
    // end
    #expect(output.events == ["count '': NoText()"])
  }

  @Test("a finished group refuses a child")
  func late() async {
    let output = Recorder<String>()
    @Sendable func print(_ line: String) { output.note(line) }
    let count = GroupProcedure()
    _ = await queue.run(count)
    // listing: groups-late
    let late = BlockProcedure(name: "late") { print("never") }
    if !count.add(child: late) {  // it has finished
      let outcome = await late.waitUntilFinished()
      print("\(outcome)")
    }
    // end
    #expect(
      output.events == [
        "cancelled: It was added to group 'GroupProcedure', which had already finished; "
          + "add children before that."
      ])
  }

  @Test("a group stops the rest at the first failure")
  func failFast() async {
    // listing: groups-fail-fast
    let strict = CountAll(["to be", "", "or not to be"])
    strict.failurePolicy = .cancelRemaining
    queue.add(strict)
    // end
    #expect(
      await strict.waitUntilFinished().deep == .failed([.child("count ''", CountAll.NoText())]))
  }

  @Test("a group adds a child in place of one that failed")
  func spare() async {
    let fetch = FetchWithSpare(CountWords("")) { CountWords("to be") }
    #expect(await queue.run(fetch) == .succeeded)
    #expect((fetch.children.last as? CountWords)?.count == 2)
  }

  @Test("a closure recovers from a child's failure")
  func recover() async {
    let output = Recorder<String>()
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: groups-recover
    let request = BlockProcedure(name: "request") { throw NoNetwork() }
    let news = GroupProcedure(name: "news", request)
    news.recover { news, child, errors in
      guard child === request, !errors.isEmpty else { return errors }
      news.add(child: BlockProcedure { print("from the cache") })
      return []
    }
    queue.add(news)
    // end
    #expect(await news.waitUntilFinished() == .succeeded)
    #expect(output.events == ["from the cache"])
  }

  @Test("dependents wait for a substitute")
  func substitute() async throws {
    let output = Recorder<Int>()
    func print(_ number: Int) { output.note(number) }
    // listing: groups-substitute
    let load = ResultProcedure<String>(name: "load") { throw NoNetwork() }
    let words = TransformProcedure<String, Int> { text in text.split(separator: " ").count }
    words.injectResult(from: load)
    let page = GroupProcedure(load, words)
    page.recover { page, child, errors in
      guard child === load, !errors.isEmpty else { return errors }
      let cached = ResultProcedure { "to be or not to be" }
      words.injectResult(from: cached)  // first: without a dependency it would start
      words.remove(dependency: load)  // else the failure of `load` would cancel it
      page.add(child: cached)
      return []
    }
    queue.add(page)
    print(try await words.value)  // 6
    // end
    #expect(await page.waitUntilFinished() == .succeeded)
    #expect(output.events == [6])
  }
}
