internal import Foundation
internal import ProcedurePrimitives

/// Stands for an operation among the dependencies of a procedure: it finishes after the operation,
/// cancelled if that was.
final class OperationStandIn: Procedure, EndsByItself, @unchecked Sendable {
  let operation: Operation

  // Accessed only in turns.
  private var watch: OperationWatch?

  init(_ operation: Operation) {
    self.operation = operation
    super.init()
    name = operation.name ?? typeName(type(of: operation))
  }

  override func execute() {
    watch = OperationWatch(operation) { self.end() }
  }

  /// Ends the wait: the procedure that waited for the operation no longer does.
  override func procedureDidCancel(withErrors errors: [any Error]) {
    if isExecuting { finish() }
  }

  override func procedureDidFinish(withErrors errors: [any Error]) {
    watch = nil
  }

  private func end() {
    if operation.isCancelled { cancel() }
    finish()
  }
}

/// Ends the wait for an operation when the waiting procedure has finished or is deallocated: it
/// then releases this observer.
final class StandInOwner: ProcedureObserver {
  private let standIn: OperationStandIn

  init(_ standIn: OperationStandIn) { self.standIn = standIn }

  deinit { standIn.cancel() }

  var events: ProcedureEvents { .didFinish }
}
