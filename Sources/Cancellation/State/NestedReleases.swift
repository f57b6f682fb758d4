internal import ProcedurePrimitives

/// Runs releases that lead to further releases at a bounded depth of the stack.
///
/// A handler may capture a source whose end releases handlers, which hold a source, and so on: a
/// list of a hundred thousand would overflow the stack. The first levels run in place, as is
/// expected of a release. The outermost run carries out the deeper ones on the same thread, before
/// it returns.
final class NestedReleases: Sendable {
  private enum Way: Sendable {
    case now
    case later
    /// The outermost run has ended, but a task that was created inside it still refers to it.
    case afresh
  }

  private struct Nesting: Sendable {
    var depth = 1
    var deferred = Fifo<@Sendable () -> Void>()
    var isOver = false
  }

  /// The releases of this task, or of this thread where there is no task.
  @TaskLocal private static var current: NestedReleases?

  private static let deepest = 32

  private let nesting = Locked(Nesting())

  private init() {}

  /// Runs `work` now, or defers it to the outermost run.
  static func run(_ work: @escaping @Sendable () -> Void) {
    switch current?.enter(work) ?? .afresh {
    case .now:
      work()
      current?.leave()
    case .later: return
    case .afresh:
      let releases = NestedReleases()
      $current.withValue(releases) {
        work()
        while let work = releases.next() { work() }
      }
    }
  }

  private func enter(_ work: @escaping @Sendable () -> Void) -> Way {
    nesting.withLock { nesting in
      if nesting.isOver { return .afresh }
      if nesting.depth < Self.deepest {
        nesting.depth += 1
        return .now
      }
      nesting.deferred.append(work)
      return .later
    }
  }

  private func leave() {
    nesting.withLock { $0.depth -= 1 }
  }

  private func next() -> (@Sendable () -> Void)? {
    nesting.withLock { nesting in
      let next = nesting.deferred.popFirst()
      if next == nil { nesting.isOver = true }
      return next
    }
  }
}
