internal import Foundation

/// The queues that connect operations and procedures.
enum OperationQueues {
  /// Runs procedures of operations without a queue, and procedures that only wait.
  static let procedures = ProcedureQueue(name: "operations")

  /// Starts operations that were not ready when their procedure executed.
  private static let unready: OperationQueue = {
    let queue = OperationQueue()
    queue.name = "procedures.unready-operations"
    return queue
  }()

  /// Starts an operation as soon as it is ready.
  ///
  /// On Linux a queue may overlook that an operation gets ready while it is being added. So the
  /// operation gets one more dependency, which finishes after it was added.
  static func startWhenReady(_ operation: Operation) {
    let latch = LatchOperation()
    operation.addDependency(latch)
    unready.addOperation(operation)
    latch.open()
  }
}
