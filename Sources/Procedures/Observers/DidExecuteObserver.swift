public import Dispatch

/// Calls a closure when `execute()` has returned.
public struct DidExecuteObserver<P: Procedure>: ProcedureObserver {
  /// Where the closure is called; nil for the procedure's worker.
  public let eventQueue: DispatchQueue?
  private let block: @Sendable (P) -> Void

  /// Makes an observer. On a procedure that is no `P` it does nothing.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didExecute block: @escaping @Sendable (P) -> Void
  ) {
    eventQueue = queue
    self.block = block
  }

  /// Only this one.
  public var events: ProcedureEvents { .didExecute }

  /// Calls the closure.
  public func did(execute procedure: Procedure) {
    if let procedure = procedure as? P { block(procedure) }
  }
}
