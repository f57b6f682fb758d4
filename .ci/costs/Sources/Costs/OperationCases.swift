import Foundation
import Procedures
import ProceduresFoundation

/// Operations and procedures run as each other, beside bare ones.
let operationCases: [String: @Sendable (Int) -> Void] = [
  // A Foundation operation on an operation queue.
  "operation": { count in
    runOperations { queue in for _ in 0..<count { queue.addOperation(BlockOperation {}) } }
  },
  // The same operation, run as a procedure.
  "wrapped": { count in
    run { queue in for _ in 0..<count { queue.add(BlockOperation {}) } }
  },
  // A procedure, run as an operation: beside "operation" and "block".
  "unwrapped": { count in
    runOperations { queue in for _ in 0..<count { queue.add(BlockProcedure {}) } }
  },
]

/// As `run`, with an operation queue.
private func runOperations(_ body: (OperationQueue) -> Void) {
  let queue = OperationQueue()
  queue.isSuspended = true
  body(queue)
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
}
