internal import Foundation
internal import ProcedurePrimitives

/// Stands for an operation among the dependencies of a procedure: finishes after it, cancelled if it is.
final class OperationStandIn: Procedure, EndsByItself, @unchecked Sendable {
  let operation: Operation

  // Touched only in turns.
  private var watch: OperationWatch?

  init(_ operation: Operation) {
    self.operation = operation
    super.init()
    name = operation.name ?? typeName(type(of: operation))
  }

  override func execute() {
    watch = OperationWatch(operation) { self.end() }
  }

  /// The procedure that waited for the operation does not wait any more.
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

/// Ends the wait for an operation when what waits has finished, or goes: the observer that holds this
/// goes with it.
final class StandInOwner: ProcedureObserver {
  private let standIn: OperationStandIn

  init(_ standIn: OperationStandIn) { self.standIn = standIn }

  deinit { standIn.cancel() }

  var events: ProcedureEvents { .didFinish }
}
