internal import Dispatch

/// Blocks on Dispatch queues, and nothing else.
enum BareDispatch {
  /// Blocks on the global queue, counted by a Dispatch group.
  static func run(_ count: Int, _ block: @escaping @Sendable () -> Void) async {
    let group = DispatchGroup()
    let queue = DispatchQueue.global()
    for _ in 0..<count {
      group.enter()
      queue.async {
        block()
        group.leave()
      }
    }
    await finished(group)
  }

  /// Blocks on a queue of one's own, awaited with a barrier, which needs no counting.
  static func run(
    _ count: Int, on queue: DispatchQueue, _ block: @escaping @Sendable () -> Void
  ) async {
    for _ in 0..<count { queue.async { block() } }
    await drained(queue)
  }

  static func serialQueue() -> DispatchQueue { DispatchQueue(label: "serial") }

  static func concurrentQueue() -> DispatchQueue {
    DispatchQueue(label: "concurrent", attributes: .concurrent)
  }

  /// Returns when all that was put on the queue before has been done.
  static func drained(_ queue: DispatchQueue) async {
    await withCheckedContinuation { done in queue.async(flags: .barrier) { done.resume() } }
  }

  static func finished(_ group: DispatchGroup) async {
    await withCheckedContinuation { done in
      group.notify(queue: .global()) { done.resume() }
    }
  }
}
