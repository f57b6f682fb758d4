public import Dispatch
internal import ProcedurePrimitives
public import Procedures

extension ProcedureQueue {
  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(_:)")
  public func addOperation(_ operation: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(_:)")
  public func addOperation(_ block: @escaping @Sendable () -> Void) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(_:)")
  public func add(operation: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(_:)")
  public func add(operations: Procedure...) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(_:)")
  public func add(operations: [Procedure]) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(_:)")
  public func addProcedure(_ procedure: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "cancelAll(withErrors:)")
  public func cancelAllOperations() { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(_:)")
  public func addOperations(_ operations: Procedure...) { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable, message: "write add(procedures), and then await waitUntilAllFinished()"
  )
  public func addOperations(_ operations: [Procedure], waitUntilFinished wait: Bool = false) {
    unavailableName()
  }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write add(procedure): there are no contexts")
  public func add(operation: Procedure, withContext context: Any?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write add(barrier: { … })")
  public func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "write await waitUntilAllFinished(), or blockUntilAllFinished() where code is not async"
  )
  public func waitUntilAllOperationsAreFinished() { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "procedures")
  public var operations: [Procedure] { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "count")
  public var operationCount: Int { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "maxConcurrentProcedureCount")
  public var maxConcurrentOperationCount: Int {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "give it to init(underlyingQueue:)")
  public var underlyingQueue: DispatchQueue? {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "main")
  public static var mainQueue: ProcedureQueue { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "without a limit it is Int.max")
  public static var defaultMaxConcurrentOperationCount: Int { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "without a limit it is Int.max")
  public static var defaultMaxConcurrentProcedureCount: Int { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "cancelAll(withErrors:)")
  public func cancelAllProcedures() { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message:
      "write await waitUntilAllFinished(), or blockUntilAllFinished() where code is not async"
  )
  public func waitUntilAllProceduresAreFinished() { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "count")
  public var procedureCount: Int { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write isSuspended = true")
  public func suspend() { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write isSuspended = false")
  public func resume() { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "put what belongs together in a GroupProcedure, and read its fractionCompleted"
  )
  public var progress: ProgressUpdates { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable, message: "there is no KVO; set delegate, or await waitUntilAllFinished()"
  )
  public func observe<Value>(
    _ keyPath: KeyPath<ProcedureQueue, Value>, options: [UnavailableObservingOption] = [],
    changeHandler: @escaping (ProcedureQueue, Any) -> Void
  ) -> ObserverRegistration { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable, message: "there is no KVO; set delegate, or await waitUntilAllFinished()"
  )
  public func publisher<Value>(
    for keyPath: KeyPath<ProcedureQueue, Value>
  ) -> ObserverRegistration { unavailableName() }
}
