public import Foundation

/// Procedures on an operation queue.
extension OperationQueue {
  /// Adds an operation that runs `procedure`. See `ProcedureOperation`.
  ///
  /// On an operation queue with an underlying Dispatch queue, such as `OperationQueue.main`, the
  /// procedure executes on the latter.
  ///
  /// - Returns: the operation, for others to depend on.
  @discardableResult
  public func add(_ procedure: Procedure) -> ProcedureOperation {
    let operation = ProcedureOperation(procedure, on: queueOfProcedures)
    addOperation(operation)
    return operation
  }

  private var queueOfProcedures: ProcedureQueue? {
    if self === OperationQueue.main { return .main }
    return unsafe underlyingQueue.map { ProcedureQueue(name: name, underlyingQueue: $0) }
  }
}
