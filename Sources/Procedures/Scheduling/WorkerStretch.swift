internal import Dispatch

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
