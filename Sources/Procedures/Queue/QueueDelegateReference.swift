internal import ProcedurePrimitives

/// Weak references to a queue's delegate, and to the queue that its methods receive.
final class QueueDelegateReference: ListDelegate, @unchecked Sendable {
  /// Called with each procedure that is about to be added, before the delegate.
  typealias Recorder = @Sendable (Procedure) -> Void

  private struct References: Sendable {
    var recorders: [(key: Int, recorder: Recorder)] = []
    var lastKey = 0
    weak var delegate: (any ProcedureQueueDelegate)?
    /// Whether there is a delegate. Reading the weak reference under the lock could release its
    /// last reference there.
    var hasDelegate = false
    weak var queue: ProcedureQueue?
  }

  private let references = Locked(References())

  var delegate: (any ProcedureQueueDelegate)? { references.withLock { $0.delegate } }

  func set(_ delegate: (any ProcedureQueueDelegate)?, of queue: ProcedureQueue) {
    change { references in
      (references.delegate, references.queue) = (delegate, queue)
      references.hasDelegate = delegate != nil
    }
  }

  /// Adds a recorder, and returns the key that removes it.
  func add(_ recorder: @escaping Recorder) -> Int {
    change { references in
      references.lastKey += 1
      references.recorders.append((references.lastKey, recorder))
      return references.lastKey
    }
  }

  func removeRecorder(_ key: Int) {
    // The recorder is released after the lock.
    let removed: Recorder? = change { references in
      let index = references.recorders.firstIndex { $0.key == key }
      return index.map { references.recorders.remove(at: $0).recorder }
    }
    _ = removed
  }

  private func change<Result>(_ body: (inout References) -> Result) -> Result {
    references.withLock { references in
      defer { publish(isWanted: references.hasDelegate || !references.recorders.isEmpty) }
      return body(&references)
    }
  }

  override func notify(_ event: ProcedureEvents, of procedure: Procedure, errors: [any Error]) {
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
    default:
      stopBecauseOfInconsistency("Internal inconsistency: no such event of a queue: \(event)")
    }
  }
}
