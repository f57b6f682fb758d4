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
  @available(
    *, unavailable,
    message:
      "say how far it is with report(fractionCompleted:); read fractionCompleted or progressUpdates"
  )
  public var progress: ProgressUpdates { unavailableName() }

  /// Called otherwise here.
  @available(
    *, unavailable,
    message:
      "a procedure without an output has no value; write try await queue.run(procedure).get()"
  )
  public var value: Void { get async throws { unavailableName() } }

  /// Called otherwise here.
  @available(
    *, unavailable, message: "there is no KVO; write addDidFinishBlockObserver { … } and the like"
  )
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: [UnavailableObservingOption] = [],
    changeHandler: @escaping (Self, Any) -> Void
  ) -> ObserverRegistration { unavailableName() }

  /// Called otherwise here.
  @available(
    *, unavailable,
    message:
      "there is no KVO; write addDidFinishBlockObserver { … }, or for await fraction in progressUpdates"
  )
  public func publisher<Value>(for keyPath: KeyPath<Self, Value>) -> ObserverRegistration {
    unavailableName()
  }

  /// Called otherwise here.
  @available(*, unavailable, message: "see state, isCancelled and outcome")
  public var status: ProcedureState { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "write errors.first: there may be several")
  public var error: (any Error)? { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "set qualityOfService")
  public var userIntent: UnavailableUserIntent {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Called otherwise here.
  @available(
    *, unavailable,
    message:
      "add observers, set diagnosticsHandler, or record a ProcedureTimeline: nothing is logged"
  )
  public var log: UnavailableLog { unavailableName() }
}

/// Why the user wanted it, which is not asked for here.
@available(*, unavailable, message: "set qualityOfService")
public enum UnavailableUserIntent: Sendable {
  /// Not available.
  case none, initiated, sideEffect
}

/// A log of a procedure, which there is none of. Takes whatever is written to one.
@available(*, unavailable, message: "add observers, set diagnosticsHandler, or record a timeline")
@dynamicMemberLookup @dynamicCallable
public struct UnavailableLog {
  /// Not available.
  public subscript(dynamicMember name: String) -> Self { unavailableName() }
  /// Not available.
  public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) {}
}

/// The options of key-value observing, which there is none of.
@available(*, unavailable, message: "there is no KVO; write addDidFinishBlockObserver { … }")
public enum UnavailableObservingOption: Sendable {
  /// Not available.
  case new, old, initial, prior
}

extension BlockProcedure {
  /// Called otherwise here.
  @available(
    *, unavailable,
    message: "it has one closure; for several write GroupProcedure { BlockProcedure { … } … }"
  )
  public final func addExecutionBlock(_ block: @escaping @Sendable () -> Void) { unavailableName() }
}

/// What stands in for what is called otherwise. Never called.
func unavailableName() -> Never {
  preconditionFailure("Internal inconsistency: an unavailable name was used")
}
