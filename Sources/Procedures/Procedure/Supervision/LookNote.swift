internal import ProcedurePrimitives

/// Whether a queue is to be told that one of its procedures may have begun to wait: one load away from each worker.
final class LookNote: Sendable {
  private let byte = AtomicByte(0)

  /// One atomic load.
  var isWanted: Bool {
    @inline(__always) get {
      #if MODEL
        // A look comes by the clock, which the explorer does not have.
        return false
      #else
        return byte.load() != 0
      #endif
    }
    set { byte.store(newValue ? 1 : 0) }
  }
}

/// A procedure that the framework ends: what its author gives it is a closure, a time, or a request.
///
/// For all others the author of the subclass calls `finish()`, and may have forgotten it.
package protocol EndsByItself: Procedure {}
