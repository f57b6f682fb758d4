internal import Dispatch

/// The shortest code by which Dispatch does the same, and knows when it is done.
enum DispatchWork {
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
    await withCheckedContinuation { done in group.notify(queue: queue) { done.resume() } }
  }

  /// Blocks on a serial queue, one after the other.
  static func runSerially(_ count: Int, _ block: @escaping @Sendable () -> Void) async {
    let queue = DispatchQueue(label: "serial")
    for _ in 0..<count { queue.async { block() } }
    await withCheckedContinuation { done in queue.async { done.resume() } }
  }

  /// Timers that have been scheduled, all of them far from their ends.
  static func timers(_ count: Int) -> [any DispatchSourceTimer] {
    (0..<count).map { index in
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.setEventHandler {}
      timer.schedule(deadline: .now() + .seconds(1_000 + index % 1_000))
      timer.activate()
      return timer
    }
  }
}
