internal import ProcedurePrimitives
public import Procedures

extension ProcedureProtocol where Self: GroupProcedure {
  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(child:)")
  public func addChild(_ child: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(children:)")
  public func addChildren(_ children: [Procedure]) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(children:)")
  public func addChildren(_ children: Procedure...) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write add(child:), and keep the event until then")
  public func add(child: Procedure, before pendingEvent: PendingEvent?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "write add(children:), and keep the event until then")
  public func add(children: [Procedure], before pendingEvent: PendingEvent?) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(child:)")
  public func addOperation(_ operation: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(children:)")
  public func addOperations(_ operations: [Procedure]) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(children:)")
  public func addOperations(_ operations: Procedure...) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "add(child:)")
  public func add(operation: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "override child(_:willFinishWithErrors:), which returns the errors of the group"
  )
  public func append(error: any Error, fromChild child: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(
    *, unavailable,
    message: "override child(_:willFinishWithErrors:), which returns the errors of the group"
  )
  public func append(errors: [any Error], fromChild child: Procedure) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "children")
  public var operations: [Procedure] { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "maxConcurrentChildCount")
  public var maxConcurrentOperationCount: Int {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "override child(_:willFinishWithErrors:)")
  public var transformChildErrorsBlock: ((Procedure, inout [any Error]) -> Void)? {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "override child(_:willFinishWithErrors:)")
  public var transformChildErrorBlock: ((Procedure, inout (any Error)?) -> Void)? {
    get { unavailableName() }
    set { unavailableName() }
  }
}

extension GroupProcedure {
  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "init(children:)")
  public convenience init(operations: [Procedure]) { unavailableName() }

  /// Unavailable: see the message.
  @available(*, unavailable, renamed: "init(_:)")
  public convenience init(operations: Procedure...) { unavailableName() }
}

// Methods to override. They are members of the class, so that the error of such an override shows
// the message.
extension GroupProcedure {
  /// Unavailable: see the message.
  @available(*, unavailable, message: "override child(_:willFinishWithErrors:)")
  public func child(_ child: Procedure, willFinishWithError error: (any Error)?) {
    unavailableName()
  }

  /// Unavailable: see the message.
  @available(*, unavailable, message: "add a will-add observer to the group")
  public func groupWillAdd(child: Procedure) { unavailableName() }
}
