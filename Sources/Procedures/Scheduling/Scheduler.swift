package import Dispatch
package import ProcedurePrimitives

/// Runs workers. Programs use `DispatchScheduler`; a simulation has its own scheduler.
///
/// The core does everything asynchronous through the scheduler and the clock.
package protocol Scheduler: AnyObject, Sendable {
  /// Runs `worker` soon, on some thread, once; never on the caller's stack.
  ///
  /// - Parameter quality: nil for the scheduler's own.
  func submit(quality: DispatchQoS.QoSClass?, _ worker: @escaping @Sendable () -> Void)

  /// Runs `work` once after `delay`, on some thread; in a simulation, when no other work is left.
  /// It is for looks that search for procedures that wait for each other.
  func submitWhenQuiet(after delay: Duration, _ work: @escaping @Sendable () -> Void)

  /// The pace of these looks, shared by all queues of the scheduler.
  var lookPace: LookPace { get }

  /// How long a worker runs procedures before it submits itself again, so that others get the
  /// thread.
  var quantum: WorkerQuantum { get }

  /// The user's queue on which workers run, which may be suspended or blocked; nil if workers
  /// always begin.
  var underlyingQueue: DispatchQueue? { get }

  /// Whether Dispatch begins no workers at the moment, so that spare threads run them.
  var isStalled: Bool { get }

  /// A random number from the seed of a simulation; nil to use the system's generator.
  func drawNumber() -> UInt64?
}

extension Scheduler {
  /// Whether workers need the main thread.
  var isOnMainThread: Bool { underlyingQueue.map(MainThread.runs) ?? false }

  package var underlyingQueue: DispatchQueue? { nil }
  package var isStalled: Bool { false }
  package func drawNumber() -> UInt64? { nil }
}

package final class DispatchScheduler: Scheduler {
  /// It begins workers even while Dispatch's threads are blocked. Nil if workers run on the user's
  /// queue.
  private let line: WorkLine?
  package let underlyingQueue: DispatchQueue?
  package let quantum: WorkerQuantum
  package let lookPace = LookPace.ofProcess

  /// Runs workers on the user's queue, in short stretches, since other blocks of that queue wait
  /// meanwhile.
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

  /// A look does not run on the workers' queue, which the awaited work may block.
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

/// How long a worker runs procedures before other queues and plain blocks get the thread: for a
/// number of procedures, or for a time.
///
/// The clock starts with the second procedure. It is read after that one, and then after twice as
/// many each time, but at least after every 32: a burst of short procedures pays little for it, and
/// of long ones two are a quantum.
package struct WorkerQuantum: Sendable {
  private static let longestBetweenLooks = 32

  private var remaining: Int
  private var done = 0
  private var nextLook = 1
  private let nanoseconds: UInt64
  private var end: UInt64 = .max

  /// - Parameter milliseconds: the time limit; nil for none, where time is virtual.
  package init(procedures: Int, milliseconds: UInt64? = nil) {
    remaining = procedures
    nanoseconds = milliseconds.map { $0 * 1_000_000 } ?? .max
  }

  var isOver: Bool { remaining <= 0 }

  /// Counts one procedure, or one turn.
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
