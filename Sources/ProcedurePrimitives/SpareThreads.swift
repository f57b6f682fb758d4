internal import Dispatch

/// Threads for work that no thread of Dispatch's pool begins. They are few, the process shares
/// them, and they end when they are idle.
///
/// Each is the thread of a serial queue, which gets one when it needs one, even while the pool is
/// busy.
public final class SpareThreads: Sendable {
  static let shared = SpareThreads()

  /// How many may run work at once. More work waits until one is free.
  private static let most = 64
  /// The limit including threads that wait for a procedure. Dispatch has 255 threads for serial
  /// queues, and the user's queues need some.
  private static let mostWithBlocked = 192

  private struct Queues: Sendable {
    var idle: [DispatchQueue] = []
    var made = 0
    /// The threads that run work, without threads that wait for a procedure meanwhile.
    var running = 0
  }

  /// The address of the line that a spare thread is serving. `setSpecific` would release each
  /// former value on a thread of the pool, and so keep them all while the pool is blocked.
  private static let place = ThreadWord()

  /// The line that the calling spare thread serves; nil on other threads.
  private static var line: WorkLine? {
    guard let address = unsafe UnsafeRawPointer(bitPattern: place.value) else { return nil }
    return unsafe Unmanaged<WorkLine>.fromOpaque(address).takeUnretainedValue()
  }

  private let queues = Locked(Queues())

  /// Whether the calling thread is a spare thread.
  public static var isCurrent: Bool { place.value != 0 }

  /// Runs `body`, which blocks the calling thread until procedures have finished. These may need a
  /// thread, so a spare thread that waits for them does not count, and another begins the waiting
  /// work.
  public static func blocking<Result>(_ body: () -> Result) -> Result {
    guard let line else { return body() }
    shared.queues.withLock { $0.running -= 1 }
    line.spareThreadBlocks()
    defer {
      line.spareThreadGoesOn()
      shared.queues.withLock { $0.running += 1 }
    }
    return body()
  }

  /// Serves `line` on a spare thread. False if none was free.
  func serve(_ line: WorkLine) -> Bool {
    guard let queue = takeIdle() else { return false }
    queue.submit(quality: line.quality) {
      Self.place.value = UInt(bitPattern: unsafe Unmanaged.passUnretained(line).toOpaque())
      line.serveOnSpareThread()
      Self.place.value = 0
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
