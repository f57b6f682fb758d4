internal import ProcedurePrimitives

/// One walk through a tree of tokens and their followers, which marks them all before any handler
/// is called.
///
/// Its lock is held for the walk, in which no user code runs. A thread that meets a token that is
/// being marked and must not run ahead of the walk, because its handler or its child is late, waits
/// for the lock once. Two walks that meet do not stop: each waits for the other only after its own
/// marking, so they cannot wait in a circle.
///
/// Lock order: the lock of a walk, then the lock of one state, or the locks under which followers
/// are marked. No thread waits with a lock held, except `SerialCancellation`, whose lock no walk
/// acquires.
final class TreeMarking: Sendable {
  private let met = Locked<[TreeMarking]>([])

  /// Runs the walk. `body` notes the other walks that it meets.
  func run<Result: Sendable>(_ body: (inout [TreeMarking]) -> Result) -> Result {
    met.withLock { met in body(&met) }
  }

  /// Returns when this walk and the walks that it met are done.
  func wait() {
    var (unvisited, visited): ([TreeMarking], Set<ObjectIdentifier>) = ([self], [])
    while let marking = unvisited.popLast() {
      guard visited.insert(ObjectIdentifier(marking)).inserted else { continue }
      unvisited += marking.met.withLock { $0 }
    }
  }

  /// Releases the walks that it met, which are done. Called by the walker after it has waited.
  func forgetThoseMet() {
    let done = met.withLock { met in
      defer { met = [] }
      return met
    }
    _ = done
  }
}
