// Names that things have elsewhere, in ProcedureKit 4 and 5 and in Foundation's operations: unavailable,
// so that the compiler says what to write. Those of procedures and groups are members of a protocol, which
// a subclass may declare for itself.

extension ProcedureProtocol {
  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(dependency:)")
  public func addDependency(_ dependency: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(dependencies:)")
  public func addDependencies(_ dependencies: [Procedure]) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "remove(dependency:)")
  public func removeDependency(_ dependency: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(condition:)")
  public func addCondition(_ condition: any Condition) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(observer:)")
  public func addObserver(_ observer: any ProcedureObserver) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "finish(withError:)")
  public func finish(with error: (any Error)?) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "cancel(withError:)")
  public func cancel(with error: (any Error)?) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "cancel(withErrors:)")
  public func cancelWithErrors(_ errors: [any Error]) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "produce(_:)")
  public func produce(operation: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "then(_:)")
  public func then(do next: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "addWillAddProcedureBlockObserver(synchronizedWith:_:)")
  public func addWillAddOperationBlockObserver(
    _ block: @escaping @Sendable (Self, Procedure) -> Void
  ) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "addDidAddProcedureBlockObserver(synchronizedWith:_:)")
  public func addDidAddOperationBlockObserver(
    _ block: @escaping @Sendable (Self, Procedure) -> Void
  ) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "remove each of its dependencies with remove(dependency:)")
  public func removeAllDependencies() { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "write addDidFinishBlockObserver { … }")
  public func addCompletionBlock(_ block: @escaping @Sendable () -> Void) { unavailableName() }

  /// Called otherwise here.
  @available(
    *, unavailable,
    message: "write addDidCancelBlockObserver { … }: nothing is told before the cancel"
  )
  public func addWillCancelBlockObserver(
    _ block: @escaping @Sendable (Self, [any Error]) -> Void
  ) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "add it to a queue")
  public func start() { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "override execute(), and add it to a queue")
  public func main() { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "write queue.add(procedure)")
  public func enqueue(on queue: ProcedureQueue) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "priority")
  public var queuePriority: ProcedurePriority {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "name")
  public var operationName: String {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "name")
  public var procedureName: String {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Called otherwise here.
  @available(*, unavailable, message: "write addDidFinishBlockObserver { … }")
  public var completionBlock: (@Sendable () -> Void)? {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Called otherwise here.
  @available(
    *, unavailable,
    message:
      "a pending procedure that waits for nothing starts when there is a slot; see state and snapshot()"
  )
  public var isReady: Bool { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "every procedure may finish later than execute() returns")
  public var isAsynchronous: Bool { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "every procedure may finish later than execute() returns")
  public var isConcurrent: Bool { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "see state, isCancelled and outcome")
  public var status: ProcedureState { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "write errors.first: there may be several")
  public var error: (any Error)? { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "set qualityOfService")
  public var userIntent: ProcedurePriority {
    get { unavailableName() }
    set { unavailableName() }
  }
}

/// What stands in for what is called otherwise. Never called.
func unavailableName() -> Never {
  preconditionFailure("Internal inconsistency: an unavailable name was used")
}
