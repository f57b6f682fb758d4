import ProcedureTestSupport
import Testing

/// Asks the compiler what it says to a user who writes the names of `OperationQueue`, `Operation`
/// and ProcedureKit.
@Suite(
  .hangLimit,
  .enabled(
    if: TypeChecker.current != nil,
    "needs swiftc in PATH and the modules beside the test binary (.build/…/Modules)"))
struct ProcedureKitNamesTests {
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
    ("p.then { p }", "then(next)"),
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
    ("_ = q.procedureCount", "renamed to 'count'"),
    ("q.suspend()", "isSuspended = true"),
    ("q.resume()", "isSuspended = false"),
    ("_ = q.progress", "GroupProcedure"),
    ("_ = q.observe(\\.count) { _, _ in }", "set delegate"),
    ("_ = q.publisher(for: \\.count)", "set delegate"),
    ("_ = ProcedureQueue.defaultMaxConcurrentProcedureCount", "Int.max"),
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
    ("_ = FalseCondition()", "BlockCondition { throw"),
    ("let _: ProcedureKitError? = nil", "renamed to 'ProcedureError'"),
    ("_ = ProcedureKitError.requirementNotSatisfied()", "ProcedureError(.requirementNotSatisfied"),
    ("_ = ProcedureKitError.noQueue()", "ProcedureError(.notEnqueued"),
    ("_ = ProcedureKitError.dependenciesFailed()", "ProcedureError(.dependencyFailed"),
    ("_ = ProcedureKitError.dependenciesCancelled()", "ProcedureError(.dependencyCancelled"),
    ("_ = ProcedureKitError.conditionFailed(withErrors: [])", "ProcedureError(.conditionFailed"),
    ("_ = ProcedureKitError.parent(cancelledWithErrors: [])", "ProcedureError(.parentCancelled"),
    ("_ = ProcedureKitError.dependency(finishedWithErrors: [])", ".dependencyFailed"),
    ("_ = ProcedureKitError.dependency(cancelledWithErrors: [])", ".dependencyCancelled"),
    ("_ = ProcedureKitError.programmingError(reason: \"x\")", "an error of your own"),
    ("p.add(observer: NetworkObserver())", "ProcedureQueueMonitor"),
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
  ]

  @Test("names that things have elsewhere are refused, and the error says what to write")
  func messages() throws {
    let checker = try #require(TypeChecker.current)
    let head = """
      import ProcedureKitNames
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

  @Test("overrides that have another name are refused")
  func overrides() throws {
    let errors = try #require(TypeChecker.current).errors(
      in: """
        import ProcedureKitNames
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
    // The note of each shows the line that says what to override. What is final can say no more
    // than that.
    for line in [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17] {
      let said = errors[line] ?? []
      #expect(said.contains { $0.contains("cannot be overridden") }, "\(line): \(errors)")
    }
    #expect(errors[15]?.contains { $0.contains("'final'") } == true)
    #expect(errors[16]?.contains { $0.contains("'final'") } == true)
  }

  @Test(
    "a subclass may have members of such names",
    arguments: [("6", []), ("5", []), ("6", ["-default-isolation", "MainActor"])])
  func valid(version: String, arguments: [String]) throws {
    let errors = try #require(TypeChecker.current).errors(
      in: """
        import ProcedureKitNames
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
        """, swiftVersion: version, arguments: arguments)
    #expect(errors.isEmpty)
  }
}
