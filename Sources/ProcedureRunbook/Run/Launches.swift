import Dispatch
internal import ProcedurePrimitives
import Procedures

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The state that all launches of a run share: their names, and the queue of cancel commands.
final class Launches: Sendable {
  /// The queue has no limit, so that no cancel waits.
  let cancels = ProcedureQueue(name: "cancels", underlyingQueue: .main)
  private let count = Locked(0)

  /// Returns a name such as `runbook-4711-12`, from the process identifier and a number.
  func makeName() -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    return "runbook-\(getpid())-\(number)"
  }
}
