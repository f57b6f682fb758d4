internal import ProcedurePrimitives
public import Procedures

// Types that have another name here than in ProcedureKit, or do not exist here.

/// Unavailable: see the message.
@available(*, unavailable, renamed: "MainActorProcedure")
public typealias UIBlockProcedure = MainActorProcedure

/// Unavailable: see the message.
@available(
  *, unavailable,
  message:
    "write AsyncProcedure { … } with an async closure, or AsyncProcedure(.callback) { finish in … }"
)
public typealias AsyncBlockProcedure = AsyncProcedure

/// Unavailable: see the message.
@available(
  *, unavailable,
  message: "write BlockProcedure { procedure in … } and look at procedure.isCancelled"
)
public typealias CancellableBlockProcedure = BlockProcedure

/// Unavailable: see the message.
@available(
  *, unavailable,
  message: "write ResultProcedure { procedure in … } and look at procedure.isCancelled"
)
public typealias CancellableResultProcedure<Output: Sendable> = ResultProcedure<Output>

/// Unavailable: see the message.
@available(
  *, unavailable,
  message:
    "delete this property: input and output come with the protocol, once the class names their types: typealias Output = …"
)
public enum Pending<Value> {
  /// Unavailable: see the message.
  case pending
  /// Unavailable: see the message.
  case ready(Value)
}

/// Unavailable: see the message.
@available(*, unavailable, renamed: "NotCondition")
public typealias NegatedCondition<Base: Condition> = NotCondition<Base>

/// Unavailable: see the message.
@available(
  *, unavailable,
  message:
    "write NoFailedDependencies(), or NoFailedDependencies(onCancelled: .ignore) for ignoreCancellations: true"
)
public typealias NoFailedDependenciesCondition = NoFailedDependencies

/// Unavailable: see the message.
@available(*, unavailable, message: "write BlockCondition { true }")
public struct TrueCondition: SynchronousCondition {
  /// Unavailable: see the message.
  public init() { unavailableName() }
  /// Unavailable: see the message.
  public func evaluate(_ procedure: Procedure) throws -> ConditionResult { unavailableName() }
}

/// Unavailable: see the message.
@available(
  *, unavailable,
  message:
    "write BlockCondition { throw … }, or { false } to have the procedure cancelled without errors"
)
public struct FalseCondition: SynchronousCondition {
  /// Unavailable: see the message.
  public init() { unavailableName() }
  /// Unavailable: see the message.
  public func evaluate(_ procedure: Procedure) throws -> ConditionResult { unavailableName() }
}

/// Unavailable: see the message.
@available(*, unavailable, renamed: "ProcedureError")
public typealias ProcedureKitError = ProcedureError

/// Unavailable: see the message.
@available(*, unavailable, message: "write Result<Value, any Error>")
public typealias ProcedureResult<Value> = Result<Value, any Error>

/// Unavailable: see the message.
@available(*, unavailable, message: "write any ProcedureObserver")
public typealias AnyObserver<P: Procedure> = any ProcedureObserver

/// Unavailable: see the message.
@available(*, unavailable, message: "write any InputProcedure<Input> & OutputProcedure<Output>")
public typealias AnyProcedure<Input: Sendable, Output: Sendable> = any InputProcedure<Input>
  & OutputProcedure<Output>

/// Unavailable: see the message.
@available(*, unavailable, message: "write any InputProcedure<Input>")
public typealias AnyInputProcedure<Input: Sendable> = any InputProcedure<Input>

/// Unavailable: see the message.
@available(*, unavailable, message: "write any OutputProcedure<Output>")
public typealias AnyOutputProcedure<Output: Sendable> = any OutputProcedure<Output>

extension NoFailedDependencies {
  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "write NoFailedDependencies(onCancelled: .ignore) for true, and NoFailedDependencies() for false"
  )
  public init(ignoreCancellations: Bool) { unavailableName() }
}

extension PendingEvent {
  /// Unavailable: see the message.
  @available(*, unavailable, message: "release() lets the event go on")
  public func doThisBeforeEvent() { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "do it, and then call release()")
  public func doBeforeEvent(_ block: () -> Void) { unavailableName() }
}

extension RetryProcedure {
  /// Unavailable: see the message.
  @available(*, unavailable, message: "write RetryProcedure(max:wait:body:)")
  public convenience init(
    upto max: Int, wait: WaitStrategy = .immediate, body: @escaping @Sendable () -> Attempt?
  ) { unavailableName() }
}

extension RepeatProcedurePayload {
  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "procedure")
  public var operation: Attempt { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "var next = payload; next.delay = delay; return next")
  public func set(delay: Duration?) -> Self { unavailableName() }
}

extension RetryFailureInfo {
  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "procedure")
  public var operation: Attempt { unavailableName() }
}

extension ConditionResult {
  /// Unavailable: see the message.
  @available(*, unavailable, message: "write .satisfied for true, and .ignored for false")
  public static func success(_ isSatisfied: Bool) -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "failed(_:)")
  public static func failure(_ error: any Error) -> Self { unavailableName() }
}

extension ProcedureError {
  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "code")
  public var context: Code { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable, message: "compare code with .timedOut, or catch ProcedureError.Code.timedOut"
  )
  public static func timedOut(with delay: Duration) -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable, message: "write ProcedureError(.requirementNotSatisfied, procedure: name)"
  )
  public static func requirementNotSatisfied() -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write ProcedureError(.notEnqueued, procedure: name)")
  public static func noQueue() -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write ProcedureError(.dependencyFailed, procedure: name)")
  public static func dependenciesFailed() -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write ProcedureError(.dependencyCancelled, procedure: name)")
  public static func dependenciesCancelled() -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "write ProcedureError(.conditionFailed, procedure: name, underlyingErrors: errors)"
  )
  public static func conditionFailed(withErrors errors: [any Error]) -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "write ProcedureError(.parentCancelled, procedure: name, underlyingErrors: errors)"
  )
  public static func parent(cancelledWithErrors errors: [any Error]) -> Self { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "write ProcedureError(.dependencyFailed, procedure: name, underlyingErrors: errors)"
  )
  public static func dependency(finishedWithErrors errors: [any Error]) -> Self {
    unavailableName()
  }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "write ProcedureError(.dependencyCancelled, procedure: name, underlyingErrors: errors)"
  )
  public static func dependency(cancelledWithErrors errors: [any Error]) -> Self {
    unavailableName()
  }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write an error of your own")
  public static func programmingError(reason: String) -> Self { unavailableName() }
}

/// Unavailable: see the message.
@available(
  *, unavailable,
  message: "show an indicator while the count of a ProcedureQueueMonitor is not zero"
)
public struct NetworkObserver: ProcedureObserver {
  /// Unavailable: see the message.
  public init() { unavailableName() }
}
