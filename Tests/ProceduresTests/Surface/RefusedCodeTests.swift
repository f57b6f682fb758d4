import ProcedureTestSupport
import Testing

/// Asks the compiler what it says to a user who writes what looks right, and is not.
@Suite(
  .hangLimit,
  .enabled(
    if: TypeChecker.current != nil,
    "needs swiftc in PATH and the modules beside the test binary (.build/…/Modules)"))
struct RefusedCodeTests {
  /// A line of code, and what its error must contain.
  private static let lines: [(code: String, message: String)] = [
    ("q.add { @MainActor in await Task.yield() }", "add(MainActorProcedure { … })"),
    ("q.add { await Task.yield() }", "add(AsyncProcedure { … })"),
    ("q.add { try await Task.sleep(for: .zero); print() }", "add(AsyncProcedure { … })"),
    ("_ = BlockProcedure { await Task.yield() }", "AsyncProcedure { … }"),
    (
      "_ = BlockProcedure(name: \"x\") { try await Task.sleep(for: .zero) }", "AsyncProcedure { … }"
    ),
    ("_ = BlockProcedure { p in await Task.yield() }", "AsyncProcedure { procedure in … }"),
    ("_ = ResultProcedure { await Task.yield(); return 1 }", "AsyncResultProcedure { … }"),
    (
      "_ = ResultProcedure<Int> { p in await Task.yield(); return 1 }",
      "AsyncResultProcedure { procedure in … }"
    ),
    (
      "_ = TransformProcedure<Int, Int> { i in await Task.yield(); return i }",
      "AsyncTransformProcedure { input in … }"
    ),
    (
      "_ = TransformProcedure<Int, Int> { p, i in await Task.yield(); return i }",
      "AsyncTransformProcedure { procedure, input in … }"
    ),
    ("BlockProcedure {}.add(observer: DidCancelObserver<DelayProcedure> { _, _ in })", "never be"),
    ("_ = AsyncProcedure { finish in finish(nil) }", "AsyncProcedure(.callback) { finish in … }"),
    (
      "_ = AsyncProcedure { finish in finish(); await Task.yield() }",
      "AsyncProcedure(.callback) { finish in … }"
    ),
    (
      "_ = AsyncTransformProcedure<Int, Int> { _, finish in }", "AsyncTransformProcedure(.callback)"
    ),
    ("TaskStore<Int>().cancel(id: 3)", "renamed to 'cancel(_:)'"),
    ("_ = TaskStore<Int>().count(id: 3)", "renamed to 'count(_:)'"),
    ("CancellationTokenSource().cancel(withError: E())", "cancel(.failure(error))"),
    ("_ = CancellationToken()", "CancellationTokenSource"),
  ]

  @Test("the compiler refuses code that only looks right, and the error says what to write")
  func messages() throws {
    let checker = try #require(TypeChecker.current)
    let head = """
      import Procedures
      struct E: Error {}
      func uses(_ q: ProcedureQueue) {

      """
    let source = head + Self.lines.map { $0.code + "\n" }.joined() + "}\n"
    let errors = try checker.errors(in: source)
    let first = head.split(separator: "\n", omittingEmptySubsequences: false).count
    for (index, line) in Self.lines.enumerated() {
      let said = errors[first + index] ?? []
      #expect(said.contains { $0.contains(line.message) }, "\(line.code): \(said)")
    }
    #expect(Set(errors.keys) == Set(first..<(first + Self.lines.count)))
  }

  @Test("a closure with a mistake in it shows that mistake, not another procedure to write")
  func mistakes() throws {
    let lines: [(code: String, message: String)] = [
      ("_ = BlockProcedure { undefined() }", "cannot find 'undefined'"),
      ("_ = BlockProcedure { let a = 1; print(a); undefined() }", "cannot find 'undefined'"),
      ("_ = BlockProcedure { let x: Int = \"a\"; print(x) }", "cannot convert value"),
      ("_ = ResultProcedure { undefined() }", "cannot find 'undefined'"),
      ("_ = ResultProcedure<Int> { \"a\" }", "cannot convert value"),
      ("_ = ResultProcedure<Int> { print(); return \"a\" }", "cannot convert"),
      ("_ = TransformProcedure<Int, Int> { i in i.undefined }", "has no member 'undefined'"),
      ("q.add { undefined() }", "cannot find 'undefined'"),
      ("q.add { print(); undefined() }", "cannot find 'undefined'"),
      ("q.add(barrier: { undefined() })", "cannot find 'undefined'"),
      ("_ = AsyncProcedure(name: \"x\") { undefined() }", "cannot find 'undefined'"),
      ("_ = AsyncProcedure(name: \"x\") { await undefined(); print() }", "cannot find 'undefined'"),
      ("_ = AsyncTransformProcedure<Int, Int> { i in i.undefined }", "has no member 'undefined'"),
      ("_ = GroupProcedure(name: \"x\") { undefined() }", "cannot find 'undefined'"),
    ]
    let head = "import Procedures\nfunc uses(_ q: ProcedureQueue) {\n"
    let errors = try #require(TypeChecker.current).errors(
      in: head + lines.map { $0.code + "\n" }.joined() + "}\n")
    for (index, line) in lines.enumerated() {
      let said = errors[3 + index] ?? []
      #expect(said.contains { $0.contains(line.message) }, "\(line.code): \(said)")
      #expect(!said.contains { $0.contains("unavailable") }, "\(line.code): \(said)")
    }
  }

  @Test(
    "closures of all shapes compile, in each language mode",
    arguments: [("6", []), ("5", []), ("6", ["-default-isolation", "MainActor"])])
  func valid(version: String, arguments: [String]) throws {
    let errors = try #require(TypeChecker.current).errors(
      in: """
        import Procedures
        @MainActor final class Model {
          var count = 0
          func done(_ procedure: BlockProcedure) { count += 1 }
          func use(_ queue: ProcedureQueue, _ block: BlockProcedure) {
            queue.add(AsyncProcedure { self.count += 1 })
            queue.add(AsyncProcedure { count += 1 })
            queue.add(AsyncProcedure { procedure in if !procedure.isCancelled { count += 1 } })
            queue.add(AsyncResultProcedure { count })
            queue.add(MainActorProcedure { count += 1 })
            block.addDidFinishBlockObserver { @MainActor in self.count += 1 }
            block.addDidFinishBlockObserver { @MainActor block, errors in self.count += 1 }
            block.addDidExecuteBlockObserver(done)
          }
          func use(_ token: CancellationToken) {
            token.onCancel { print("anywhere") }
            token.onCancel { @MainActor in self.count += 1 }
            token.onCancel { @MainActor [weak self] in self?.count += 1 }
            token.onComplete { @MainActor cancelled in self.count += cancelled ? 1 : 0 }
            token.onComplete { cancelled in print(cancelled) }
            token.onCancel(increment)
          }
          func increment() { count += 1 }
          func names(_ queue: ProcedureQueue) {
            queue.add(AsyncProcedure(name: "a") { try await Task.sleep(for: .zero) })
            queue.add(AsyncProcedure(name: "a") { self.count += 1 })
            queue.add(AsyncProcedure(name: "a") { procedure in if !procedure.isCancelled { count += 1 } })
            queue.add(AsyncProcedure(name: "a", .callback) { finish in finish() })
            queue.add(AsyncProcedure(.callback) { finish in finish(nil) })
            queue.add(AsyncResultProcedure(name: "r") { count })
            queue.add(AsyncResultProcedure<Int>(name: "r", .callback) { $0(.success(3)) })
            queue.add(MainActorProcedure(name: "m") { count += 1 })
            queue.add(AsyncTransformProcedure<Int, Int> { input in input + 1 })
            queue.add(AsyncTransformProcedure<Int, Int>(name: "t") { input in input + count })
            queue.add(AsyncTransformProcedure<Int, Int> { $0 + 1 })
            queue.add(AsyncTransformProcedure { (input: Int) in try await load(input) })
            queue.add(AsyncTransformProcedure(load))
            queue.add(
              AsyncTransformProcedure<Int, Int> { procedure, input in
                procedure.isCancelled ? input : try await load(input)
              })
            queue.add(
              AsyncTransformProcedure<Int, Void> { procedure, input in
                _ = try await load(input)
                procedure.report(fractionCompleted: 0.5)
              })
            queue.add(
              AsyncTransformProcedure<Int, Int>(name: "t", .callback) { input, finish in
                finish(.success(input))
              })
            queue.add(GroupProcedure(name: "g", BlockProcedure {}, BlockProcedure {}))
            queue.add(GroupProcedure(name: "g", children: [BlockProcedure {}]))
            queue.add(GroupProcedure(name: "g", children: Set([BlockProcedure {}])))
            queue.add(GroupProcedure(name: "g") { BlockProcedure {} })
            queue.add(GroupProcedure(name: "g"), GroupProcedure(), GroupProcedure(name: nil))
            queue.add(barrier: { print("alone") })
            queue.add { print("on a worker") }
            let added: BlockProcedure = queue.add { try Task.checkCancellation() }
            let shown: MainActorProcedure = queue.add { @MainActor [weak self] in self?.count += 1 }
            queue.add(added, shown)
            queue.add(increment)
            queue.add(barrier: BlockProcedure {})
            queue.cancelAll(withError: nil)
          }
          nonisolated func load(_ number: Int) async throws -> Int { number }
        }
        """, swiftVersion: version, arguments: arguments)
    #expect(errors.isEmpty)
  }
}
