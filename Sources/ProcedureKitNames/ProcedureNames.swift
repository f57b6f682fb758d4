internal import ProcedurePrimitives
public import Procedures

// Names from ProcedureKit 4 and 5 and from Foundation's operations. They are unavailable, so that
// the compiler says what to write instead. The names of procedures and groups are members of a
// protocol, so that a subclass may declare them for itself.

extension ProcedureProtocol {
  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(dependency:)")
  public func addDependency(_ dependency: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(dependencies:)")
  public func addDependencies(_ dependencies: [Procedure]) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "remove(dependency:)")
  public func removeDependency(_ dependency: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(condition:)")
  public func addCondition(_ condition: any Condition) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(observer:)")
  public func addObserver(_ observer: any ProcedureObserver) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "finish(withError:)")
  public func finish(with error: (any Error)?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "cancel(withError:)")
  public func cancel(with error: (any Error)?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "cancel(withErrors:)")
  public func cancelWithErrors(_ errors: [any Error]) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "produce(_:)")
  public func produce(operation: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "then(_:)")
  public func then(do next: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write then(next), without a closure")
  public func then(do next: () throws -> Procedure?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "addWillAddProcedureBlockObserver(synchronizedWith:_:)")
  public func addWillAddOperationBlockObserver(
    _ block: @escaping @Sendable (Self, Procedure) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "addDidAddProcedureBlockObserver(synchronizedWith:_:)")
  public func addDidAddOperationBlockObserver(
    _ block: @escaping @Sendable (Self, Procedure) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "remove each of its dependencies with remove(dependency:)")
  public func removeAllDependencies() { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write addDidFinishBlockObserver { … }")
  public func addCompletionBlock(_ block: @escaping @Sendable () -> Void) { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "write addDidCancelBlockObserver { … }: no event comes before it"
  )
  public func addWillCancelBlockObserver(
    _ block: @escaping @Sendable (Self, [any Error]) -> Void
  ) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write queue.add(procedure)")
  public func enqueue(on queue: ProcedureQueue) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "priority")
  public var queuePriority: ProcedurePriority {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "name")
  public var operationName: String {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "name")
  public var procedureName: String {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "say how far it is with report(fractionCompleted:); read fractionCompleted or progressUpdates"
  )
  public var progress: ProgressUpdates { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "a procedure without an output has no value; write try await queue.run(procedure).get()"
  )
  public var value: Void { get async throws { unavailableName() } }

  /// Unavailable: see the message.
  @available(
    *, unavailable, message: "there is no KVO; write addDidFinishBlockObserver { … } and the like"
  )
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: [UnavailableObservingOption] = [],
    changeHandler: @escaping (Self, Any) -> Void
  ) -> ObserverRegistration { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "there is no KVO; write addDidFinishBlockObserver { … }, or for await fraction in progressUpdates"
  )
  public func publisher<Value>(for keyPath: KeyPath<Self, Value>) -> ObserverRegistration {
    unavailableName()
  }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "see state, isCancelled and outcome")
  public var status: ProcedureState { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write errors.first: there may be several")
  public var error: (any Error)? { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "set qualityOfService")
  public var userIntent: UnavailableUserIntent {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "add observers, set diagnosticsHandler, or record a ProcedureTimeline: nothing is logged"
  )
  public var log: UnavailableLog { unavailableName() }
}

// Methods to override. They are members of the class, so that the error of such an override shows
// the message.
extension Procedure {
  /// Unavailable: see the message.
  @available(*, unavailable, message: "override procedureDidCancel(withErrors:)")
  public func procedureDidCancel(with error: (any Error)?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "override procedureDidCancel(withErrors:)")
  public func procedureDidCancel(errors: [any Error]) { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "override procedureDidCancel(withErrors:): no event comes before it"
  )
  public func procedureWillCancel(withErrors errors: [any Error]) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "override procedureWillFinish(withErrors:)")
  public func procedureWillFinish(with error: (any Error)?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "override procedureDidFinish(withErrors:)")
  public func procedureDidFinish(with error: (any Error)?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "add it to a queue; to do the work override execute()")
  public func start() { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "override execute(), which calls finish(); add the procedure to a queue"
  )
  public func main() { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "leave it out: every procedure may finish later than execute() returns"
  )
  public var isAsynchronous: Bool { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "leave it out: every procedure may finish later than execute() returns"
  )
  public var isConcurrent: Bool { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "add a condition: a pending procedure that waits for nothing starts when there is a slot; see state and snapshot()"
  )
  public var isReady: Bool { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write addDidFinishBlockObserver { … }")
  public var completionBlock: (@Sendable () -> Void)? {
    get { unavailableName() }
    set { unavailableName() }
  }
}

/// Stands for ProcedureKit's user intent, which does not exist here.
@available(*, unavailable, message: "set qualityOfService")
public enum UnavailableUserIntent: Sendable {
  /// Unavailable: see the message.
  case none, initiated, sideEffect
}

/// Stands for ProcedureKit's log of a procedure, which does not exist here. It accepts any call.
@available(*, unavailable, message: "add observers, set diagnosticsHandler, or record a timeline")
@dynamicMemberLookup @dynamicCallable
public struct UnavailableLog {
  /// Unavailable: see the message.
  public subscript(dynamicMember name: String) -> Self { unavailableName() }
  /// Unavailable: see the message.
  public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any>) {}
}

/// Stands for the options of key-value observing, which does not exist here.
@available(*, unavailable, message: "there is no KVO; write addDidFinishBlockObserver { … }")
public enum UnavailableObservingOption: Sendable {
  /// Unavailable: see the message.
  case new, old, initial, prior
}

extension BlockProcedure {
  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "it has one closure; for several write GroupProcedure { BlockProcedure { … } … }"
  )
  public final func addExecutionBlock(_ block: @escaping @Sendable () -> Void) { unavailableName() }
}
