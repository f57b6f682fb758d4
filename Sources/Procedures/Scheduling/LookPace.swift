internal import ProcedurePrimitives

/// The time between two looks, which those of all queues of a process share: looking never costs more than some
/// hundredth of the time, however many queues there are.
package final class LookPace: Sendable {
  /// That of queues on Dispatch.
  package static let ofProcess = LookPace()

  /// The size of the graphs of the next looks.
  private let size = Locked(0)

  package init() {}

  /// A look will come, through a graph of about that size.
  func begin(_ count: Int) { size.withLock { $0 += count } }

  /// None will come any more.
  func end(_ count: Int) { size.withLock { $0 -= count } }

  func change(from count: Int, to other: Int) { size.withLock { $0 += other - count } }

  /// The time until the next look.
  var rest: Duration { .milliseconds(10) + .microseconds(10) * size.withLock { $0 } }
}
