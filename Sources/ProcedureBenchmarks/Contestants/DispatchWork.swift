internal import Dispatch

/// The shortest Dispatch code that does the same work and knows when it is done.
enum DispatchWork {
  /// Runs blocks on the global queue; a Dispatch group counts them.
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

  /// Runs groups of blocks on the global queue. A block follows each group.
  static func runGroups(
    _ count: Int, of size: Int, _ block: @escaping @Sendable () -> Void
  ) async {
    let all = DispatchGroup()
    let queue = DispatchQueue.global()
    for _ in 0..<count {
      all.enter()
      let group = DispatchGroup()
      for _ in 0..<size { queue.async(group: group) { block() } }
      group.notify(queue: queue) { all.leave() }
    }
    await withCheckedContinuation { done in all.notify(queue: queue) { done.resume() } }
  }

  /// Runs blocks on a serial queue.
  static func runSerially(_ count: Int, _ block: @escaping @Sendable () -> Void) async {
    let queue = DispatchQueue(label: "serial")
    for _ in 0..<count { queue.async { block() } }
    await withCheckedContinuation { done in queue.async { done.resume() } }
  }

  /// Timers that are scheduled and due in 1,000 seconds or more.
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
