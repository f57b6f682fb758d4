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

  /// The time between two of those, of all that look for waits.
  var lookPace: LookPace { get }

  /// How long a worker runs procedures before it asks to be called again, so that others get the
  /// thread.
  var quantum: WorkerQuantum { get }

  /// The user's queue that workers are blocks of, which may be suspended, or blocked; nil if they begin in any case.
  var underlyingQueue: DispatchQueue? { get }

  /// Whether Dispatch begins no worker at the moment, and spare threads run them.
  var isStalled: Bool { get }

  /// A random number, where a seed decides about all that is random; nil for one of the system.
  func drawNumber() -> UInt64?
}

extension Scheduler {
  /// Whether nothing runs while the main thread is blocked.
  var isOnMainThread: Bool { underlyingQueue.map(MainThread.runs) ?? false }

  package var underlyingQueue: DispatchQueue? { nil }
  package var isStalled: Bool { false }
  package func drawNumber() -> UInt64? { nil }
}

package final class DispatchScheduler: Scheduler {
  /// Goes on while its threads are blocked. Nil if workers are blocks of the user's own queue.
  private let line: WorkLine?
  package let underlyingQueue: DispatchQueue?
  package let quantum: WorkerQuantum
  package let lookPace = LookPace.ofProcess

  /// Workers on the user's own queue, where other blocks wait their turn between procedures.
  package init(underlyingQueue: DispatchQueue) {
    line = nil
    self.underlyingQueue = underlyingQueue
    quantum = WorkerQuantum(procedures: 16, milliseconds: 1)
  }

  package init(line: WorkLine) {
    self.line = line
    underlyingQueue = nil
    quantum = WorkerQuantum(procedures: 256, milliseconds: 4)
  }

  package func submit(
    quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void
  ) {
    line?.submit(quality: quality, worker)
    underlyingQueue?.submit(quality: quality, worker)
  }

  package var isStalled: Bool { line?.isStalled ?? false }

  /// It does not use the workers' own queue: the awaited work may block that.
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
/// ones two are a quantum.
package struct WorkerQuantum: Sendable {
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
