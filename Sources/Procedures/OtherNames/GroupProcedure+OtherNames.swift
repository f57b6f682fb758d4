extension ProcedureProtocol where Self: GroupProcedure {
  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(child:)")
  public func addChild(_ child: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(children:)")
  public func addChildren(_ children: [Procedure]) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(children:)")
  public func addChildren(_ children: Procedure...) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "write add(child:), and keep the event until then")
  public func add(child: Procedure, before pendingEvent: PendingEvent?) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, message: "write add(children:), and keep the event until then")
  public func add(children: [Procedure], before pendingEvent: PendingEvent?) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(child:)")
  public func addOperation(_ operation: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(children:)")
  public func addOperations(_ operations: [Procedure]) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(children:)")
  public func addOperations(_ operations: Procedure...) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "add(child:)")
  public func add(operation: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(
    *, unavailable,
    message: "override child(_:willFinishWithErrors:), which returns the errors of the group"
  )
  public func append(error: any Error, fromChild child: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(
    *, unavailable,
    message: "override child(_:willFinishWithErrors:), which returns the errors of the group"
  )
  public func append(errors: [any Error], fromChild child: Procedure) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "children")
  public var operations: [Procedure] { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "maxConcurrentChildCount")
  public var maxConcurrentOperationCount: Int {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Called otherwise here.
  @available(*, unavailable, message: "override child(_:willFinishWithErrors:)")
  public var transformChildErrorsBlock: ((Procedure, inout [any Error]) -> Void)? {
    get { unavailableName() }
    set { unavailableName() }
  }

  /// Called otherwise here.
  @available(*, unavailable, message: "override child(_:willFinishWithErrors:)")
  public var transformChildErrorBlock: ((Procedure, inout (any Error)?) -> Void)? {
    get { unavailableName() }
    set { unavailableName() }
  }
}

extension GroupProcedure {
  /// Called otherwise here.
  @available(*, unavailable, renamed: "init(children:)")
  public convenience init(operations: [Procedure]) { unavailableName() }

  /// Called otherwise here.
  @available(*, unavailable, renamed: "init(_:)")
  public convenience init(operations: Procedure...) { unavailableName() }
}
