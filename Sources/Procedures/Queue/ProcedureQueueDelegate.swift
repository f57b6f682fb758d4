/// Receives the events of a queue. Children of groups on it are not reported: their group is.
///
/// Once its owner has released the queue, the delegate receives no more: there is no queue to name.
///
/// Add events come on the thread that adds; finish events in the procedure's turn, after its own
/// observers. Events of one procedure come in order, those of different ones concurrently.
public protocol ProcedureQueueDelegate: AnyObject, Sendable {
  /// A procedure is about to be added. It may still be given dependencies and observers.
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
