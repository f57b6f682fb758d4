package import Dispatch
package import ProcedurePrimitives

/// Runs workers. `DispatchScheduler` is the real one; a simulation puts its own in its place.
///
/// Everything asynchronous in the core goes through this and the clock beside it.
package protocol Scheduler: AnyObject, Sendable {
  /// Runs `worker` soon, on some thread, once; never on the caller's stack.
  ///
  /// - Parameter quality: nil for the scheduler's own.
  func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void)

  /// Runs `work` once when `delay` has passed, on some thread; in a simulation, when nothing else is
  /// left to be done. For looking whether procedures wait for each other.
  func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void)

  /// How long a worker runs procedures before it asks to be called again, so that others get the
  /// thread.
  var stretch: WorkerStretch { get }

  /// Whether nothing runs while the main thread is blocked.
  var isOnMainThread: Bool { get }

  /// The user's queue that workers are blocks of, which may be suspended, or blocked; nil if they begin in any case.
  var underlyingQueue: DispatchQueue? { get }

  /// Whether Dispatch begins no worker at the moment, and spare threads run them.
  var isStalled: Bool { get }

  /// A random number, where a seed decides about all that is random; nil for one of the system.
  func drawNumber() -> UInt64?
}

extension Scheduler {
  package var isOnMainThread: Bool { false }
  package var underlyingQueue: DispatchQueue? { nil }
  package var isStalled: Bool { false }
  package func drawNumber() -> UInt64? { nil }
}

/// Workers on threads of Dispatch.
package final class DispatchScheduler: Scheduler {
  private enum Threads {
    /// A line that goes on while its threads are blocked.
    case line(WorkLine)
    /// The user's own queue: a block for each worker.
    case queue(DispatchQueue)
  }

  private let threads: Threads
  package let stretch: WorkerStretch

  /// Workers on the user's own queue, where other blocks wait their turn between procedures.
  package init(underlyingQueue: DispatchQueue) {
    threads = .queue(underlyingQueue)
    stretch = WorkerStretch(procedures: 16, milliseconds: 1)
  }

  /// Workers in that line.
  package init(line: WorkLine) {
    threads = .line(line)
    stretch = WorkerStretch(procedures: 256, milliseconds: 4)
  }

  /// Workers on Dispatch's global queue of that quality.
  package convenience init(quality: DispatchQoS.QoSClass) {
    self.init(line: .shared(quality))
  }

  /// Workers that may block, on threads that nothing else uses.
  ///
  /// - Parameter threads: how many workers may block at once. There is one thread more, for what else is to be done.
  package convenience init(threads: Int, quality: DispatchQoS.QoSClass) {
    self.init(line: WorkLine(threads: threads + 1, quality: quality))
  }

  package func submit(
    quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void
  ) {
    switch threads {
    case .line(let line): line.submit(quality: quality, worker)
    case .queue(let queue): queue.submit(quality: quality, worker)
    }
  }

  package var isOnMainThread: Bool { underlyingQueue.map(MainThread.runs) ?? false }

  package var underlyingQueue: DispatchQueue? {
    if case .queue(let queue) = threads { queue } else { nil }
  }

  package var isStalled: Bool {
    if case .line(let line) = threads { line.isStalled } else { false }
  }

  /// Not on the workers' own queue: the awaited work may block that.
  package func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    let timers = DispatchTimers.shared
    _ = timers.schedule(QuietTimer(work: work), at: timers.now.saturatingAdvanced(by: delay))
  }
}

private final class QuietTimer: TimerTarget {
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void) {
    self.work = work
  }

  func timerFired() { WorkLine.shared(.utility).submit(work) }
}

/// How long a worker runs procedures before it goes to the end of its scheduler's line, where other
/// queues, and plain blocks, wait for the thread: until so many are done, or so much time has passed.
///
/// The clock starts with the second procedure. It is read after that one, and then after twice as many
/// each time, but at least after every 32: a burst of short procedures pays little for it, and of long
/// ones two are a stretch.
package struct WorkerStretch: Sendable {
  private static let longestBetweenLooks = 32

  private var remaining: Int
  private var done = 0
  private var nextLook = 1
  private let nanoseconds: UInt64
  private var end: UInt64 = .max

  /// - Parameter milliseconds: nil for any time, where time is not that of the machine.
  package init(procedures: Int, milliseconds: UInt64? = nil) {
    remaining = procedures
    nanoseconds = milliseconds.map { $0 * 1_000_000 } ?? .max
  }

  /// Whether the worker is to go.
  var isOver: Bool { remaining <= 0 }

  /// One procedure, or one turn, is done.
  @inline(__always)
  mutating func advance() {
    remaining -= 1
    done &+= 1
    if done == nextLook { look() }
  }

  @inline(never)
  private mutating func look() {
    guard nanoseconds != .max, remaining > 0 else { return }
    let now = DispatchTime.now().uptimeNanoseconds
    if done == 1 {
      end = now &+ nanoseconds
    } else if now >= end {
      remaining = 0
    }
    nextLook = min(nextLook * 2, nextLook + Self.longestBetweenLooks)
  }
}
