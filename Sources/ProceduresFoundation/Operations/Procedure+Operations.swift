public import Foundation

/// Procedures that wait for operations.
extension Procedure {
  /// Makes this procedure wait until `operation` has finished.
  ///
  /// ```swift
  /// show.add(dependency: download)   // download is on an OperationQueue
  /// ```
  ///
  /// Order, not success, as with a procedure: see `add(dependency:)` there, also for when it is too
  /// late. The operation must be on a queue, or be started, or this procedure waits. It takes no slot
  /// meanwhile. A wait in a circle that leads through an operation is not noticed.
  ///
  /// - Returns: false if this procedure was cancelled before.
  @discardableResult
  public final func add(dependency operation: Operation) -> Bool {
    add(dependency: operation, requiring: .any)
  }

  /// Waits for an operation, and asks that it was not cancelled.
  ///
  /// An operation knows no failure: if it has finished and was not cancelled, it has succeeded. If it
  /// was cancelled where that is not allowed, this procedure is cancelled with
  /// `ProcedureError.Code.dependencyCancelled`.
  ///
  /// - Returns: false if this procedure was cancelled before.
  @discardableResult
  public final func add(
    dependency operation: Operation, requiring requirement: DependencyRequirement
  ) -> Bool {
    let standIn = OperationStandIn(operation)
    guard add(dependency: standIn, requiring: requirement) else { return false }
    add(observer: StandInOwner(standIn))
    OperationQueues.procedures.add(standIn)
    return true
  }

  /// Takes a dependency back. Without effect once it finished, or this procedure started.
  public final func remove(dependency operation: Operation) {
    for case let standIn as OperationStandIn in dependencies where standIn.operation === operation {
      remove(dependency: standIn)
      standIn.cancel()
    }
  }
}
