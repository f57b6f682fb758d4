import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Procedures

/// An asynchronous operation that the test ends, as such operations are commonly written.
final class ManualOperation: Operation, @unchecked Sendable {
  private let phase = AtomicByte(0)
  let started = Gate()
  /// Whether a cancel ends it while it executes.
  let endsWhenCancelled: Bool

  init(_ name: String = "o", endsWhenCancelled: Bool = true) {
    self.endsWhenCancelled = endsWhenCancelled
    super.init()
    self.name = name
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { phase.load() == 1 }
  override var isFinished: Bool { phase.load() == 2 }

  override func start() {
    if isCancelled { return end() }
    change("isExecuting", to: 1)
    started.open()
  }

  override func cancel() {
    super.cancel()
    if endsWhenCancelled, isExecuting { end() }
  }

  func end() {
    guard phase.load() != 2 else { return }
    willChangeValue(forKey: "isExecuting")
    change("isFinished", to: 2)
    didChangeValue(forKey: "isExecuting")
  }

  private func change(_ key: String, to new: UInt8) {
    willChangeValue(forKey: key)
    phase.store(new)
    didChangeValue(forKey: key)
  }
}

extension OperationQueue {
  /// A queue that nothing is started on.
  static var suspended: OperationQueue {
    let queue = OperationQueue()
    queue.isSuspended = true
    return queue
  }
}

/// Opens when an operation has finished, from its completion block.
func finish(of operation: Operation) -> Gate {
  let gate = Gate()
  operation.completionBlock = { gate.open() }
  return gate
}

/// Opens when `execute()` of a procedure has returned. To be asked for before it is added.
func execution(of procedure: Procedure) -> Gate {
  let gate = Gate()
  procedure.addDidExecuteBlockObserver { _ in gate.open() }
  return gate
}
