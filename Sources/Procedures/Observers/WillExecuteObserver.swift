public import Dispatch

/// Calls a closure when a procedure is about to execute.
public struct WillExecuteObserver<P: Procedure>: ProcedureObserver {
  /// Where the closure is called; nil for the procedure's worker.
  public let eventQueue: DispatchQueue?
  private let block: @Sendable (P, PendingEvent) -> Void

  /// Makes an observer. On a procedure that is no `P` it does nothing.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willExecute block: @escaping @Sendable (P, PendingEvent) -> Void
  ) {
    eventQueue = queue
    self.block = block
  }

  /// Only this one.
  public var events: ProcedureEvents { .willExecute }

  /// Calls the closure.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    if let procedure = procedure as? P { block(procedure, pendingExecute) }
  }
}
