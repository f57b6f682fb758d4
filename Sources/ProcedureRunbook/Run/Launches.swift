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

/// What all launches of one run share: their names, and the queue of the commands that end them.
final class Launches: Sendable {
  /// No limit holds a cancel back.
  let cancels = ProcedureQueue(name: "cancels", underlyingQueue: .main)
  private let count = Locked(0)

  /// For example `runbook-4711-12`: of this process, and a number.
  func makeName() -> String {
    let number = count.withLock { count in
      count += 1
      return count
    }
    return "runbook-\(getpid())-\(number)"
  }
}
