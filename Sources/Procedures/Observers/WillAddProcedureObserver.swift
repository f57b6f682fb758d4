public import Dispatch

/// Calls a closure when a procedure is about to add another.
public struct WillAddProcedureObserver<P: Procedure>: ProcedureObserver {
  /// Where the closure is called; nil for the procedure's worker.
  public let eventQueue: DispatchQueue?
  private let block: @Sendable (P, Procedure) -> Void

  /// Makes an observer. On a procedure that is no `P` it does nothing.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willAdd block: @escaping @Sendable (P, Procedure) -> Void
  ) {
    eventQueue = queue
    self.block = block
  }

  /// Only this one.
  public var events: ProcedureEvents { .willAdd }

  /// Calls the closure.
  public func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {
    if let procedure = procedure as? P { block(procedure, newProcedure) }
  }
}
