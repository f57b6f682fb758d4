internal import Dispatch

/// Threads for work that no thread of Dispatch's pool begins: few, shared by the process, gone when they are idle.
///
/// Each is that of a serial queue, which has one when it needs one, whatever the pool is busy with.
public final class SpareThreads: Sendable {
  static let shared = SpareThreads()

  /// How many may run work at once. More work waits until one is free.
  private static let most = 64

  private struct Queues: Sendable {
    var idle: [DispatchQueue] = []
    var made = 0
    /// Those that run work, but for those that wait for a procedure meanwhile.
    var running = 0
  }

  /// Found on spare threads alone.
  private static let mark = DispatchSpecificKey<Bool>()

  private let queues = Locked(Queues())

  /// Whether the calling thread is one.
  public static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

  /// Runs `body`, in which the calling thread is blocked until procedures have finished: these may need a thread, so
  /// a spare one that waits for them does not count.
  public static func blocking(_ body: () -> Void) {
    guard isCurrent else { return body() }
    shared.queues.withLock { $0.running -= 1 }
    body()
    shared.queues.withLock { $0.running += 1 }
  }

  /// Whether a thread was free, which runs `work`.
  func run(_ quality: DispatchQoS.QoSClass, _ work: @escaping @Sendable () -> Void) -> Bool {
    guard let queue = takeIdle() else { return false }
    queue.submit(quality: quality) {
      work()
      self.queues.withLock { queues in
        queues.running -= 1
        queues.idle.append(queue)
      }
    }
    return true
  }

  private func takeIdle() -> DispatchQueue? {
    queues.withLock { queues in
      guard queues.running < Self.most else { return nil }
      queues.running += 1
      if let queue = queues.idle.popLast() { return queue }
      queues.made += 1
      let queue = DispatchQueue(label: "procedures.spare.\(queues.made)")
      queue.setSpecific(key: Self.mark, value: true)
      return queue
    }
  }
}
