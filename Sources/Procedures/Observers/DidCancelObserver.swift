public import Dispatch

/// Calls a closure when a procedure was cancelled.
public struct DidCancelObserver<P: Procedure>: ProcedureObserver {
  /// Where the closure is called; nil for the procedure's worker.
  public let eventQueue: DispatchQueue?
  private let block: @Sendable (P, [any Error]) -> Void

  /// Makes an observer. On a procedure that is no `P` it does nothing.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    didCancel block: @escaping @Sendable (P, [any Error]) -> Void
  ) {
    eventQueue = queue
    self.block = block
  }

  /// Only this one.
  public var events: ProcedureEvents { .didCancel }

  /// Calls the closure.
  public func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    if let procedure = procedure as? P { block(procedure, errors) }
  }
}
