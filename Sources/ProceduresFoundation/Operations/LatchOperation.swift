internal import Foundation
internal import ProcedurePrimitives

/// An operation on no queue that only others depend on. It finishes when it is opened.
class LatchOperation: Operation, @unchecked Sendable {
  private let hasOpened = AtomicByte(0)

  override var isAsynchronous: Bool { true }
  override var isFinished: Bool { hasOpened.load() != 0 }

  /// Finishes it, so that its dependents go on. Later calls have no effect.
  func open() {
    willChangeValue(forKey: "isFinished")
    hasOpened.store(1)
    didChangeValue(forKey: "isFinished")
  }
}

/// Stands for a procedure among the dependencies of an operation.
final class ProcedureLatch: LatchOperation, @unchecked Sendable {
  /// Weak. If the procedure is deallocated without having run, its dependents wait forever, as with
  /// an operation.
  private(set) weak var procedure: Procedure?

  init(_ procedure: Procedure) {
    self.procedure = procedure
    super.init()
    name = procedure.name
  }

  /// Opens the latch when the procedure has finished, and its observers have returned.
  func open(after procedure: Procedure) {
    if procedure.isCancelled { cancel() }
    open()
  }
}
