internal import ProcedurePrimitives

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

/// A queue's delegate, and the queue to name to it; neither is kept alive.
final class QueueDelegateReference: Sendable {
  /// Called with each procedure that is about to be added, before the delegate is.
  typealias Recorder = @Sendable (Procedure) -> Void

  private struct References: Sendable {
    var recorders: [(key: Int, recorder: Recorder)] = []
    var lastKey = 0
    weak var delegate: (any ProcedureQueueDelegate)?
    weak var queue: ProcedureQueue?
  }

  private let references = Locked(References())

  var delegate: (any ProcedureQueueDelegate)? { references.withLock { $0.delegate } }

  func set(
    _ delegate: (any ProcedureQueueDelegate)?, of queue: ProcedureQueue,
    publish: (_ isWanted: Bool) -> Void
  ) {
    references.withLock { references in
      (references.delegate, references.queue) = (delegate, queue)
      publish(delegate != nil || !references.recorders.isEmpty)
    }
  }

  /// Adds a recorder. What it returns takes it off again.
  func add(_ recorder: @escaping Recorder, publish: (_ isWanted: Bool) -> Void) -> Int {
    references.withLock { references in
      references.lastKey += 1
      references.recorders.append((references.lastKey, recorder))
      publish(true)
      return references.lastKey
    }
  }

  func removeRecorder(_ key: Int, publish: (_ isWanted: Bool) -> Void) {
    // Released after the lock.
    let removed: Recorder? = references.withLock { references in
      guard let index = references.recorders.firstIndex(where: { $0.key == key }) else {
        return nil
      }
      let removed = references.recorders.remove(at: index).recorder
      publish(references.delegate != nil || !references.recorders.isEmpty)
      return removed
    }
    _ = removed
  }

  func tell(_ event: ProcedureEvents, of procedure: Procedure, errors: [any Error]) {
    let (recorders, delegate, queue) = references.withLock {
      ($0.recorders, $0.delegate, $0.queue)
    }
    if event == .willAdd { for entry in recorders { entry.recorder(procedure) } }
    guard let delegate, let queue else { return }
    switch event {
    case .willAdd: delegate.procedureQueue(queue, willAdd: procedure)
    case .didAdd: delegate.procedureQueue(queue, didAdd: procedure)
    case .willFinish: delegate.procedureQueue(queue, willFinish: procedure, withErrors: errors)
    case .didFinish: delegate.procedureQueue(queue, didFinish: procedure, withErrors: errors)
    default: preconditionFailure("Internal inconsistency: no such event of a queue: \(event)")
    }
  }
}
