internal import Dispatch

/// How long a worker runs procedures before it goes to the end of its scheduler's line, where other
/// queues, and plain blocks, wait for the thread: until so many are done, or so much time has passed.
///
/// The clock starts with the second procedure, and is read after that one and after every eighth: a
/// burst of short procedures pays for an eighth of a look each, and of long ones two are a stretch.
package struct WorkerStretch: Sendable {
  private var remaining: Int
  private var done = 0
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
  mutating func advance() {
    remaining -= 1
    guard nanoseconds != .max, remaining > 0 else { return }
    done += 1
    if done == 1 {
      end = DispatchTime.now().uptimeNanoseconds &+ nanoseconds
    } else if done == 2 || done & 7 == 0, DispatchTime.now().uptimeNanoseconds >= end {
      remaining = 0
    }
  }
}
