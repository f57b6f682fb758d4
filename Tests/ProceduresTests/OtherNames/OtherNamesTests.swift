import ProcedureTestSupport
import Testing

/// Asks the compiler what it says to a user who writes the names of `OperationQueue`, `Operation` and
/// ProcedureKit.
@Suite(
  .enabled(
    if: TypeChecker.current != nil,
    "needs swiftc in PATH and the modules beside the test binary (.build/…/Modules)"))
struct OtherNamesTests {
  /// A line of code, and what its error must contain.
  private static let lines: [(code: String, message: String)] = [
    ("p.addDependency(p)", "renamed to 'add(dependency:)'"),
    ("p.addDependencies([p])", "renamed to 'add(dependencies:)'"),
    ("p.removeDependency(p)", "renamed to 'remove(dependency:)'"),
    ("p.removeAllDependencies()", "remove(dependency:)"),
    ("p.addCondition(c)", "renamed to 'add(condition:)'"),
    ("p.addObserver(o)", "renamed to 'add(observer:)'"),
    ("p.completionBlock = {}", "addDidFinishBlockObserver { … }"),
    ("p.addCompletionBlock {}", "addDidFinishBlockObserver { … }"),
    ("p.finish(with: nil)", "renamed to 'finish(withError:)'"),
    ("p.cancel(with: nil)", "renamed to 'cancel(withError:)'"),
    ("p.cancelWithErrors([])", "renamed to 'cancel(withErrors:)'"),
    ("p.produce(operation: p)", "renamed to 'produce(_:)'"),
    ("p.then(do: p)", "renamed to 'then(_:)'"),
    ("p.addWillCancelBlockObserver { _, _ in }", "addDidCancelBlockObserver { … }"),
    ("p.addWillAddOperationBlockObserver { _, _ in }", "renamed to 'addWillAddProcedureBlock"),
    ("p.addDidAddOperationBlockObserver { _, _ in }", "renamed to 'addDidAddProcedureBlock"),
    ("p.start()", "add it to a queue"),
    ("p.main()", "override execute()"),
    ("_ = p.progress", "report(fractionCompleted:)"),
    ("_ = p.value", "queue.run(procedure).get()"),
    ("_ = p.observe(\\.isFinished) { _, _ in }", "addDidFinishBlockObserver { … }"),
    ("_ = p.observe(\\.state, options: [.new]) { _, _ in }", "addDidFinishBlockObserver { … }"),
    ("_ = p.publisher(for: \\.isFinished)", "addDidFinishBlockObserver { … }"),
    ("BlockProcedure {}.addExecutionBlock {}", "GroupProcedure {"),
    ("q.cancelAllProcedures()", "renamed to 'cancelAll(withErrors:)'"),
    ("q.waitUntilAllProceduresAreFinished()", "blockUntilAllFinished()"),
    ("q.add { @MainActor in await Task.yield() }", "add(MainActorProcedure { … })"),
    ("_ = q.procedureCount", "renamed to 'count'"),
    ("q.suspend()", "isSuspended = true"),
    ("q.resume()", "isSuspended = false"),
    ("_ = q.progress", "GroupProcedure"),
    ("_ = q.observe(\\.count) { _, _ in }", "set delegate"),
    ("_ = q.publisher(for: \\.count)", "set delegate"),
    ("q.qualityOfService = .utility", "init(qualityOfService:)"),
    ("_ = ProcedureQueue.defaultMaxConcurrentProcedureCount", "Int.max"),
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
    ("TaskStore<Int>().cancel(id: 3)", "renamed to 'cancel(_:)'"),
    ("_ = TaskStore<Int>().count(id: 3)", "renamed to 'count(_:)'"),
    ("p.enqueue(on: q)", "queue.add(procedure)"),
    ("p.queuePriority = .high", "renamed to 'priority'"),
    ("_ = p.operationName", "renamed to 'name'"),
    ("_ = p.procedureName", "renamed to 'name'"),
    ("_ = p.isReady", "see state"),
    ("_ = p.isAsynchronous", "finish later"),
    ("_ = p.isConcurrent", "finish later"),
    ("_ = p.status", "see state"),
    ("_ = p.error", "errors.first"),
    ("p.userIntent = .initiated", "qualityOfService"),
    ("p.log.info(message: \"starts\")", "diagnosticsHandler"),
    ("g.add(child: p, before: e)", "add(child:)"),
    ("g.add(children: [p], before: nil)", "add(children:)"),
    ("let _: ConditionResult = .success(true)", ".satisfied"),
    ("let _: ConditionResult = .failure(E())", "renamed to 'failed(_:)'"),
    ("_ = n.set(delay: .seconds(1))", "next.delay = delay"),
    ("_ = n.operation", "renamed to 'procedure'"),
    ("_ = i.operation", "renamed to 'procedure'"),
    ("_ = r.context", "renamed to 'code'"),
    ("_ = ProcedureError.timedOut(with: .seconds(1))", ".timedOut"),
    ("CancellationTokenSource().cancel(withError: E())", "cancel(.failure(error))"),
    ("q.addOperation(p)", "renamed to 'add(_:)'"),
    ("q.addOperation { print() }", "renamed to 'add(_:)'"),
    ("q.addOperations([p], waitUntilFinished: true)", "await waitUntilAllFinished()"),
    ("q.add(operation: p)", "renamed to 'add(_:)'"),
    ("q.add(operations: p, p)", "renamed to 'add(_:)'"),
    ("q.add(operations: [p])", "renamed to 'add(_:)'"),
    ("q.add(operation: p, withContext: nil)", "no contexts"),
    ("q.addProcedure(p)", "renamed to 'add(_:)'"),
    ("q.addBarrierBlock {}", "add(barrier:"),
    ("q.cancelAllOperations()", "renamed to 'cancelAll(withErrors:)'"),
    ("q.waitUntilAllOperationsAreFinished()", "blockUntilAllFinished()"),
    ("_ = q.operations", "renamed to 'procedures'"),
    ("_ = q.operationCount", "renamed to 'count'"),
    ("q.maxConcurrentOperationCount = 2", "renamed to 'maxConcurrentProcedureCount'"),
    ("_ = q.underlyingQueue", "init(underlyingQueue:)"),
    ("_ = ProcedureQueue.mainQueue", "renamed to 'main'"),
    ("_ = ProcedureQueue.defaultMaxConcurrentOperationCount", "Int.max"),
    ("g.addChild(p)", "renamed to 'add(child:)'"),
    ("g.addChildren([p])", "renamed to 'add(children:)'"),
    ("g.addChildren(p, p)", "renamed to 'add(children:)'"),
    ("g.addOperation(p)", "renamed to 'add(child:)'"),
    ("g.addOperations([p])", "renamed to 'add(children:)'"),
    ("g.add(operation: p)", "renamed to 'add(child:)'"),
    ("_ = g.operations", "renamed to 'children'"),
    ("g.maxConcurrentOperationCount = 1", "renamed to 'maxConcurrentChildCount'"),
    ("g.transformChildErrorsBlock = nil", "child(_:willFinishWithErrors:)"),
    ("g.append(error: E(), fromChild: p)", "child(_:willFinishWithErrors:)"),
    ("_ = GroupProcedure(operations: [p])", "renamed to 'init(children:)'"),
    ("_ = GroupProcedure(operations: p, p)", "renamed to 'init(_:)'"),
    ("_ = UIBlockProcedure {}", "renamed to 'MainActorProcedure'"),
    ("_ = AsyncBlockProcedure { finish in finish(nil) }", "AsyncProcedure(.callback)"),
    ("_ = CancellableBlockProcedure { isCancelled in }", "BlockProcedure { procedure in … }"),
    ("_ = NegatedCondition(c)", "renamed to 'NotCondition'"),
    ("_ = NoFailedDependenciesCondition()", "NoFailedDependencies()"),
    ("_ = NoFailedDependencies(ignoreCancellations: true)", "onCancelled: .ignore"),
    ("_ = TrueCondition()", "BlockCondition { true }"),
    ("q.addOperations(p, p)", "renamed to 'add(_:)'"),
    ("_ = CancellationToken()", "CancellationTokenSource"),
    ("_ = FalseCondition()", "BlockCondition { throw"),
    ("let _: ProcedureKitError? = nil", "renamed to 'ProcedureError'"),
    ("let _: ProcedureResult<Int>? = nil", "Result<Value, any Error>"),
    ("let _: AnyObserver<Procedure>? = nil", "any ProcedureObserver"),
    ("let _: AnyOutputProcedure<Int>? = nil", "any OutputProcedure"),
    ("p.add(observer: WillExecuteObserver { _, _ in })", "addWillExecuteBlockObserver { … }"),
    ("p.add(observer: DidFinishObserver { _, _ in })", "addDidFinishBlockObserver { … }"),
    ("_ = WillFinishObserver<Procedure> { _, _, _ in }", "addWillFinishBlockObserver { … }"),
    ("_ = DidExecuteObserver { _ in }", "addDidExecuteBlockObserver { … }"),
    ("_ = WillAddOperationObserver { _, _ in }", "addWillAddProcedureBlockObserver { … }"),
    ("_ = DidAddProcedureObserver { _, _ in }", "addDidAddProcedureBlockObserver { … }"),
    ("_ = RetryProcedure(upto: 3) { BlockProcedure {} }", "RetryProcedure(max:wait:body:)"),
    ("e.doThisBeforeEvent()", "release()"),
    ("BlockProcedure {}.add(observer: DidCancelObserver<DelayProcedure> { _, _ in })", "never be"),
    ("_ = AsyncProcedure { finish in finish(nil) }", "AsyncProcedure(.callback) { finish in … }"),
    (
      "_ = AsyncProcedure { finish in finish(); await Task.yield() }",
      "AsyncProcedure(.callback) { finish in … }"
    ),
    (
      "_ = AsyncTransformProcedure<Int, Int> { _, finish in }", "AsyncTransformProcedure(.callback)"
    ),
  ]

  @Test("names that things have elsewhere are refused, and the error says what to write")
  func messages() throws {
    let checker = try #require(TypeChecker.current)
    let head = """
      import Procedures
      struct E: Error {}
      let p: Procedure = BlockProcedure {}
      let q = ProcedureQueue()
      let g = GroupProcedure(children: [])
      let c = BlockCondition { true }
      let o: any ProcedureObserver = TimeoutObserver(by: .zero)
      func uses(
        _ e: PendingEvent, _ n: RepeatProcedurePayload<Procedure>, _ i: RetryFailureInfo<Procedure>,
        _ r: ProcedureError
      ) {

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

  @Test("overrides that have another name are refused, and the error says which to write")
  func overrides() throws {
    let errors = try #require(TypeChecker.current).errors(
      in: """
        import Procedures
        final class Own: GroupProcedure, @unchecked Sendable {
          override func procedureDidCancel(with error: (any Error)?) {}
          override func procedureDidCancel(errors: [any Error]) {}
          override func procedureWillFinish(with error: (any Error)?) {}
          override func procedureDidFinish(with error: (any Error)?) {}
          override func child(_ child: Procedure, willFinishWithError error: (any Error)?) {}
          override func main() {}
          override func start() {}
          override var isAsynchronous: Bool { true }
          override var isConcurrent: Bool { true }
          override var isReady: Bool { true }
          override func cancel() {}
          override var isExecuting: Bool { true }
          override var isFinished: Bool { true }
          override var completionBlock: (@Sendable () -> Void)? { get { nil } set {} }
        }
        """)
    let expected = [
      3: "procedureDidCancel(withErrors:)", 4: "procedureDidCancel(withErrors:)",
      5: "procedureWillFinish(withErrors:)", 6: "procedureDidFinish(withErrors:)",
      7: "child(_:willFinishWithErrors:)",
    ]
    for (line, message) in expected {
      #expect(errors[line]?.contains { $0.contains("override \(message)") } == true, "\(errors)")
    }
    // What is final can say no more than that.
    let others = [
      8: "override execute()", 9: "override execute()", 10: "leave it out", 11: "leave it out",
      12: "add a condition", 13: "cannot be overridden", 14: "'final'", 15: "'final'",
      16: "addDidFinishBlockObserver { … }",
    ]
    for (line, message) in others {
      #expect(errors[line]?.contains { $0.contains(message) } == true, "\(line): \(errors)")
    }
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
    "a subclass may have members of such names, and closures may leave parameters out",
    arguments: [("6", []), ("5", []), ("6", ["-default-isolation", "MainActor"])])
  func valid(version: String, arguments: [String]) throws {
    let errors = try #require(TypeChecker.current).errors(
      in: """
        import Procedures
        final class Own: Procedure, @unchecked Sendable {
          func addChild(_ child: Int) {}
          var operations: [Int] = []
          var completionBlock: (() -> Void)?
          var status = 3
          func main() {}
          func start() {}
          func finish(with value: Int) { finish() }
          override func execute() {
            addChild(status)
            operations = [1]
            completionBlock = nil
            main()
            start()
            finish(with: 3)
          }
        }
        final class OwnGroup: GroupProcedure, @unchecked Sendable {
          var operations: [Int] = []
          func addOperation(_ number: Int) {}
          init(operations: [Int]) { super.init(children: []) }
        }
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
            block.addDidFinishBlockObserver { @MainActor block in self.count += 1 }
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
