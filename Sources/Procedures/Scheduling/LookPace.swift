internal import ProcedurePrimitives

/// The time between two looks, shared by all queues of a process: looks take no more than some one
/// percent of the time, for any number of queues.
package final class LookPace: Sendable {
  package static let ofProcess = LookPace()

  /// The total size of the graphs of all scheduled looks.
  private let size = Locked(0)

  package init() {}

  /// A look through a graph of about `count` entries is scheduled.
  func begin(_ count: Int) { size.withLock { $0 += count } }

  /// That look is over, and none follows.
  func end(_ count: Int) { size.withLock { $0 -= count } }

  func change(from count: Int, to other: Int) { size.withLock { $0 += other - count } }

  var rest: Duration { .milliseconds(10) + .microseconds(10) * size.withLock { $0 } }
}
