internal import Foundation
internal import ProcedurePrimitives

/// An operation on no queue that only others depend on. It finishes when it is opened.
class LatchOperation: Operation, @unchecked Sendable {
  private let hasOpened = AtomicByte(0)

  override var isAsynchronous: Bool { true }
  override var isFinished: Bool { hasOpened.load() != 0 }

  /// Finishes it, so that its dependents go on. Later calls do nothing.
  func open() {
    willChangeValue(forKey: "isFinished")
    hasOpened.store(1)
    didChangeValue(forKey: "isFinished")
  }
}

/// Stands for a procedure among the dependencies of an operation.
final class ProcedureLatch: LatchOperation, @unchecked Sendable {
  /// It is not kept alive: a procedure that has gone without having run is waited for, for ever, as an operation is.
  private(set) weak var procedure: Procedure?

  init(_ procedure: Procedure) {
    self.procedure = procedure
    super.init()
    name = procedure.name
  }

  /// The procedure has finished, and its observers have returned.
  func open(after procedure: Procedure) {
    if procedure.isCancelled { cancel() }
    open()
  }
}
