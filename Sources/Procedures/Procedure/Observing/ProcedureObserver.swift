public import Dispatch

/// Something that receives the events of a procedure.
///
/// Implement the events that you want; the defaults do nothing. All are called in the procedure's
/// turns: one at a time, never overlapping its `execute()` or overrides, on a worker of its queue,
/// or on `eventQueue`. One value may observe several procedures, and is then called concurrently.
///
/// ```swift
/// struct Log: ProcedureObserver {
///   func did(finish procedure: Procedure, withErrors errors: [any Error]) {
///     print("\(procedure.name) \(procedure.outcome!)")
///   }
/// }
/// procedure.add(observer: Log())
/// ```
public protocol ProcedureObserver: Sendable {
  /// The events to receive; all by default. Read once, when it is added.
  var events: ProcedureEvents { get }

  /// The queue to be called on; nil, the default, means the procedure's worker.
  ///
  /// The procedure's turn waits for the callback without blocking a thread.
  var eventQueue: DispatchQueue? { get }

  /// It was attached: delivered in the procedure's next turn, before any other event.
  func didAttach(to procedure: Procedure)

  /// `execute()` is about to be called, unless you cancel or finish the procedure here.
  ///
  /// - Parameters:
  ///   - procedure: the observed procedure.
  ///   - pendingExecute: keep it to hold the event back; release it to let the event go on.
  func will(execute procedure: Procedure, pendingExecute: PendingEvent)

  /// `execute()` has returned. The work may go on asynchronously.
  func did(execute procedure: Procedure)

  /// The procedure was cancelled with these errors.
  func did(cancel procedure: Procedure, withErrors errors: [any Error])

  /// The procedure is about to add `newProcedure` to its queue, or as a child.
  func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure)

  /// The procedure has added `newProcedure`.
  ///
  /// By then it may run, or have finished: prepare it in will-add.
  func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure)

  /// The procedure is about to finish with these errors, which no longer change.
  ///
  /// - Parameters:
  ///   - procedure: the observed procedure.
  ///   - errors: the errors of the cancel and of the finish.
  ///   - pendingFinish: keep it to hold the event back; release it to let the event go on.
  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent)

  /// The procedure has finished. Dependents start after all observers have returned.
  func did(finish procedure: Procedure, withErrors errors: [any Error])
}

extension ProcedureObserver {
  /// All events.
  public var events: ProcedureEvents { .all }

  /// The procedure's worker.
  public var eventQueue: DispatchQueue? { nil }

  /// Does nothing.
  public func didAttach(to procedure: Procedure) {}

  /// Does nothing.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {}

  /// Does nothing.
  public func did(execute procedure: Procedure) {}

  /// Does nothing.
  public func did(cancel procedure: Procedure, withErrors errors: [any Error]) {}

  /// Does nothing.
  public func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {}

  /// Does nothing.
  public func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {}

  /// Does nothing.
  public func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {}

  /// Does nothing.
  public func did(finish procedure: Procedure, withErrors errors: [any Error]) {}
}

/// An observer whose work begins with the start of the procedure, or at once if it has started.
protocol BeginsWithStart: ProcedureObserver {
  func start(for procedure: Procedure)
}
