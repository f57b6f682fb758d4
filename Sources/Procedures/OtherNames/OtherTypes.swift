// Types that have another name in ProcedureKit, or none here.

/// Called otherwise here.
@available(*, unavailable, renamed: "MainActorProcedure")
public typealias UIBlockProcedure = MainActorProcedure

/// Called otherwise here.
@available(
  *, unavailable,
  message:
    "write AsyncProcedure { … } with an async closure, or AsyncProcedure(.callback) { finish in … }"
)
public typealias AsyncBlockProcedure = AsyncProcedure

/// Called otherwise here.
@available(
  *, unavailable,
  message: "write BlockProcedure { procedure in … } and look at procedure.isCancelled"
)
public typealias CancellableBlockProcedure = BlockProcedure

/// Called otherwise here.
@available(
  *, unavailable,
  message: "write ResultProcedure { procedure in … } and look at procedure.isCancelled"
)
public typealias CancellableResultProcedure<Output: Sendable> = ResultProcedure<Output>

/// Called otherwise here.
@available(
  *, unavailable,
  message:
    "delete this property: input and output come with the protocol, once the class names their types: typealias Output = …"
)
public enum Pending<Value> {
  /// Called otherwise here.
  case pending
  /// Called otherwise here.
  case ready(Value)
}

/// Called otherwise here.
@available(*, unavailable, renamed: "NotCondition")
public typealias NegatedCondition<Base: Condition> = NotCondition<Base>

/// Called otherwise here.
@available(
  *, unavailable,
  message:
    "write NoFailedDependencies(), or NoFailedDependencies(onCancelled: .ignore) for ignoreCancellations: true"
)
public typealias NoFailedDependenciesCondition = NoFailedDependencies

/// Called otherwise here.
@available(*, unavailable, message: "write BlockCondition { true }")
public struct TrueCondition: SynchronousCondition {
  /// Called otherwise here.
  public init() { unavailableName() }
  /// Called otherwise here.
  public func evaluate(_ procedure: Procedure) throws -> ConditionResult { unavailableName() }
}

/// Called otherwise here.
@available(
  *, unavailable,
  message:
    "write BlockCondition { throw … }, or { false } to have the procedure cancelled without errors"
)
public struct FalseCondition: SynchronousCondition {
  /// Called otherwise here.
  public init() { unavailableName() }
  /// Called otherwise here.
  public func evaluate(_ procedure: Procedure) throws -> ConditionResult { unavailableName() }
}

/// Called otherwise here.
@available(*, unavailable, renamed: "ProcedureError")
public typealias ProcedureKitError = ProcedureError

/// Called otherwise here.
@available(*, unavailable, message: "write Result<Value, any Error>")
public typealias ProcedureResult<Value> = Result<Value, any Error>

/// Called otherwise here.
@available(*, unavailable, message: "write any ProcedureObserver")
public typealias AnyObserver<P: Procedure> = any ProcedureObserver

/// Called otherwise here.
@available(*, unavailable, message: "write any InputProcedure<Input> & OutputProcedure<Output>")
public typealias AnyProcedure<Input: Sendable, Output: Sendable> = any InputProcedure<Input>
  & OutputProcedure<Output>

/// Called otherwise here.
@available(*, unavailable, message: "write any InputProcedure<Input>")
public typealias AnyInputProcedure<Input: Sendable> = any InputProcedure<Input>

/// Called otherwise here.
@available(*, unavailable, message: "write any OutputProcedure<Output>")
public typealias AnyOutputProcedure<Output: Sendable> = any OutputProcedure<Output>

extension NoFailedDependencies {
  /// Called otherwise here.
  @available(
    *, unavailable,
    message:
      "write NoFailedDependencies(onCancelled: .ignore) for true, and NoFailedDependencies() for false"
  )
  public init(ignoreCancellations: Bool) { unavailableName() }
}

extension PendingEvent {
  /// Called otherwise here.
  @available(*, unavailable, message: "release() lets the event go on")
  public func doThisBeforeEvent() { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "do it, and then call release()")
  public func doBeforeEvent(_ block: () -> Void) { unavailableName() }
}

extension RetryProcedure {
  /// Called otherwise here.
  @available(*, unavailable, message: "write RetryProcedure(max:wait:body:)")
  public convenience init(
    upto max: Int, wait: WaitStrategy = .immediate, body: @escaping @Sendable () -> Attempt?
  ) { unavailableName() }
}

extension RepeatProcedurePayload {
  /// Called otherwise here.
  @available(*, unavailable, renamed: "procedure")
  public var operation: Attempt { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "var next = payload; next.delay = delay; return next")
  public func set(delay: Duration?) -> Self { unavailableName() }
}

extension RetryFailureInfo {
  /// Called otherwise here.
  @available(*, unavailable, renamed: "procedure")
  public var operation: Attempt { unavailableName() }
}

extension ConditionResult {
  /// Called otherwise here.
  @available(*, unavailable, message: "write .satisfied for true, and .ignored for false")
  public static func success(_ isSatisfied: Bool) -> Self { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "failed(_:)")
  public static func failure(_ error: any Error) -> Self { unavailableName() }
}

extension ProcedureError {
  /// Called otherwise here.
  @available(*, unavailable, renamed: "code")
  public var context: Code { unavailableName() }

  /// Called otherwise here.
  @available(
    *, unavailable, message: "compare code with .timedOut, or catch ProcedureError.Code.timedOut"
  )
  public static func timedOut(with delay: Duration) -> Self { unavailableName() }
}
