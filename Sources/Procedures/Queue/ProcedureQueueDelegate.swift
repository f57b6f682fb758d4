/// Receives the events of a queue. It receives those of groups on it, but not of their children.
///
/// Once the queue's owner has released it, the delegate receives no further events.
///
/// The thread that adds a procedure delivers the add events. Finish events are delivered in the
/// procedure's turn, after its own observers. Events of one procedure come in order; events of
/// different procedures may come concurrently.
public protocol ProcedureQueueDelegate: AnyObject, Sendable {
  /// A procedure is about to be added. You can still add dependencies and observers to it.
  ///
  /// If the queue then refuses it, because it is closed, no further event follows.
  func procedureQueue(_ queue: ProcedureQueue, willAdd procedure: Procedure)

  /// A procedure was added. It may have finished already.
  func procedureQueue(_ queue: ProcedureQueue, didAdd procedure: Procedure)

  /// A procedure is about to finish.
  func procedureQueue(
    _ queue: ProcedureQueue, willFinish procedure: Procedure, withErrors errors: [any Error])

  /// A procedure has finished; its dependents have not started.
  func procedureQueue(
    _ queue: ProcedureQueue, didFinish procedure: Procedure, withErrors errors: [any Error])
}

extension ProcedureQueueDelegate {
  /// The default for a delegate that does not need this event.
  public func procedureQueue(_ queue: ProcedureQueue, willAdd procedure: Procedure) {}

  /// The default for a delegate that does not need this event.
  public func procedureQueue(_ queue: ProcedureQueue, didAdd procedure: Procedure) {}

  /// The default for a delegate that does not need this event.
  public func procedureQueue(
    _ queue: ProcedureQueue, willFinish procedure: Procedure, withErrors errors: [any Error]
  ) {}

  /// The default for a delegate that does not need this event.
  public func procedureQueue(
    _ queue: ProcedureQueue, didFinish procedure: Procedure, withErrors errors: [any Error]
  ) {}
}
