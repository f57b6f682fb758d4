public import Dispatch

/// Calls a closure when a procedure is about to finish.
public struct WillFinishObserver<P: Procedure>: ProcedureObserver {
  /// Where the closure is called; nil for the procedure's worker.
  public let eventQueue: DispatchQueue?
  private let block: @Sendable (P, [any Error], PendingEvent) -> Void

  /// Makes an observer. On a procedure that is no `P` it does nothing.
  public init(
    synchronizedWith queue: DispatchQueue? = nil,
    willFinish block: @escaping @Sendable (P, [any Error], PendingEvent) -> Void
  ) {
    eventQueue = queue
    self.block = block
  }

  /// Only this one.
  public var events: ProcedureEvents { .willFinish }

  /// Calls the closure.
  public func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    if let procedure = procedure as? P { block(procedure, errors, pendingFinish) }
  }
}
