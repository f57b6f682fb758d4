internal import Foundation

/// Foundation's operations.
enum Operations {
  /// Adds operations one by one.
  static func run(
    _ count: Int, on queue: OperationQueue = OperationQueue(), _ make: () -> Operation
  ) async {
    for _ in 0..<count { queue.addOperation(make()) }
    await drained(queue)
  }

  /// Adds them all at once.
  static func run(_ operations: [Operation], on queue: OperationQueue = OperationQueue()) async {
    add(operations, to: queue)
    await drained(queue)
  }

  /// Does not wait, though it is not to be called in async code.
  private static func add(_ operations: [Operation], to queue: OperationQueue) {
    queue.addOperations(operations, waitUntilFinished: false)
  }

  /// Returns when all that was added before has finished.
  static func drained(_ queue: OperationQueue) async {
    await withCheckedContinuation { done in queue.addBarrierBlock { done.resume() } }
  }

  static func serialQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }
}
