import Procedures
import ProcedureTestSupport
import Testing

// listing: groups-subclass
final class CountAll: GroupProcedure, @unchecked Sendable {
  private let texts: [String]

  init(_ texts: [String]) {
    self.texts = texts
    super.init(children: [])
    maxConcurrentChildCount = 4
  }

  override func execute() {
    for text in texts { add(child: CountWords(text)) }
    super.execute()
  }

  var total: Int {
    children.reduce(0) { sum, child in sum + ((child as? CountWords)?.count ?? 0) }
  }
}
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

@Suite("Listings of the guide Groups")
struct GroupListings {
  private let queue = ProcedureQueue()

  @Test("a subclass adds children")
  func subclass() async {
    let count = CountAll(["to be", "or not to be"])
    #expect(await queue.run(count) == .succeeded)
    #expect(count.total == 6)
  }

  @Test("a group's errors name the child")
  func errors() async {
    let output = Recorder<String>()
    func print(_ line: String) { output.note(line) }
    // listing: groups-errors
    let group = CountAll(["to be", ""])
    _ = await queue.run(group)
    for case let error as ProcedureError in group.errors where error.code == .child {
      print("\(error.procedure!): \(error.underlyingErrors[0])")
    }
    // end
    #expect(output.events == ["count the words: NoText()"])
  }

  @Test("adding to a group that has finished")
  func late() async {
    let (group, late) = (GroupProcedure(), CountWords("late"))
    let output = Recorder<String>()
    func print(_ line: String) { output.note(line) }
    _ = await queue.run(group)
    // listing: groups-late
    if !group.add(child: late) {
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

  @Test("stop the rest at the first failure")
  func failFast() async {
    let steps = [Endless(), BlockProcedure { throw TestError("no space left") }]
    // listing: groups-fail-fast
    let group = GroupProcedure(children: steps)
    group.failurePolicy = .cancelRemaining
    // end
    #expect(
      await queue.run(group).deep == .failed([.child("BlockProcedure", TestError("no space left"))])
    )
    #expect(steps[0].isCancelled)
  }

  @Test("a spare for what failed")
  func spare() async {
    let fetch = FetchWithSpare(CountWords("")) { CountWords("to be") }
    #expect(await queue.run(fetch) == .succeeded)
    #expect((fetch.children.last as? CountWords)?.count == 2)
  }

  @Test("a closure that recovers")
  func recover() async {
    let output = Recorder<String>()
    @Sendable func print(_ line: String) { output.note(line) }
    let fetch = BlockProcedure { throw TestError("offline") }
    let report = BlockProcedure {}
    // listing: groups-recover
    let group = GroupProcedure(fetch, report)
    group.recover { group, child, errors in
      guard child === fetch, !errors.isEmpty else { return errors }
      group.add(child: BlockProcedure { print("from the cache") })
      return []
    }
    queue.add(group)
    // end
    #expect(await group.waitUntilFinished() == .succeeded)
    #expect(output.events == ["from the cache"])
  }

  @Test("a substitute that dependents wait for")
  func substitute() async throws {
    let output = Recorder<Int>()
    func print(_ number: Int) { output.note(number) }
    let load = ResultProcedure<String> { throw TestError("offline") }
    let words = TransformProcedure<String, Int> { $0.split(separator: " ").count }
    words.injectResult(from: load)
    // listing: groups-substitute
    let group = GroupProcedure(load, words)
    group.recover { group, child, errors in
      guard child === load, !errors.isEmpty else { return errors }
      let cached = ResultProcedure { "to be or not to be" }
      words.injectResult(from: cached)  // first: without a dependency it would start
      words.remove(dependency: load)  // else the failure of `load` would cancel it
      group.add(child: cached)
      return []
    }
    queue.add(group)
    print(try await words.value)
    // end
    #expect(await group.waitUntilFinished() == .succeeded)
    #expect(output.events == [6])
  }
}
