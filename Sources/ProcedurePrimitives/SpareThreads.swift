internal import Dispatch

/// Threads for work that no thread of Dispatch's pool begins: few, shared by the process, gone when they are idle.
///
/// Each is that of a serial queue, which has one when it needs one, whatever the pool is busy with.
public final class SpareThreads: Sendable {
  static let shared = SpareThreads()

  /// How many may run work at once. More work waits until one is free.
  private static let most = 64
  /// The limit, with threads that wait for a procedure. Dispatch has 255 threads for serial queues, and
  /// the user's need some, too.
  private static let mostWithBlocked = 192

  private struct Queues: Sendable {
    var idle: [DispatchQueue] = []
    var made = 0
    /// The threads that run work, without threads that wait for a procedure meanwhile.
    var running = 0
  }

  /// The line that a spare thread serves. Found on spare threads alone.
  private static let line = DispatchSpecificKey<WorkLine>()

  private let queues = Locked(Queues())

  /// Whether the calling thread is one.
  public static var isCurrent: Bool { DispatchQueue.getSpecific(key: line) != nil }

  /// Runs `body`, in which the calling thread is blocked until procedures have finished: these may need a thread, so
  /// a spare one that waits for them does not count, and another begins the waiting work.
  public static func blocking<Result>(_ body: () -> Result) -> Result {
    guard let line = DispatchQueue.getSpecific(key: line) else { return body() }
    shared.queues.withLock { $0.running -= 1 }
    line.spareThreadBlocks()
    defer {
      line.spareThreadGoesOn()
      shared.queues.withLock { $0.running += 1 }
    }
    return body()
  }

  /// Whether a thread was free, which serves `line`.
  func serve(_ line: WorkLine) -> Bool {
    guard let queue = takeIdle() else { return false }
    queue.setSpecific(key: Self.line, value: line)
    queue.submit(quality: line.quality) {
      line.serveOnSpareThread()
      queue.setSpecific(key: Self.line, value: nil)
      self.queues.withLock { queues in
        queues.running -= 1
        queues.idle.append(queue)
      }
    }
    return true
  }

  private func takeIdle() -> DispatchQueue? {
    queues.withLock { queues in
      guard queues.running < Self.most, !queues.idle.isEmpty || queues.made < Self.mostWithBlocked
      else { return nil }
      queues.running += 1
      if let queue = queues.idle.popLast() { return queue }
      queues.made += 1
      return DispatchQueue(label: "procedures.spare.\(queues.made)")
    }
  }
}
