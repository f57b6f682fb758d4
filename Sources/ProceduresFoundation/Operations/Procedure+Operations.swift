public import Foundation

/// Procedures that wait for operations.
extension Procedure {
  /// Makes this procedure wait until `operation` has finished.
  ///
  /// ```swift
  /// show.add(dependency: download)   // download is on an OperationQueue
  /// ```
  ///
  /// It is about order, not success: see `add(dependency:)` of a procedure, which also says when it
  /// is too late. The operation must be on a queue, or be started, or this procedure waits; it
  /// takes no slot meanwhile. A circle of waits that contains an operation is not detected.
  ///
  /// - Returns: false if this procedure was cancelled before.
  @discardableResult
  public final func add(dependency operation: Operation) -> Bool {
    add(dependency: operation, requiring: .any)
  }

  /// Makes this procedure wait until `operation` has finished as `requirement` demands.
  ///
  /// An operation cannot fail: if it has finished and was not cancelled, it has succeeded. If it
  /// was cancelled and the requirement does not allow that, this procedure is cancelled with
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

  /// Removes a dependency. Has no effect once the operation has finished, or this procedure has
  /// started.
  public final func remove(dependency operation: Operation) {
    for case let standIn as OperationStandIn in dependencies where standIn.operation === operation {
      remove(dependency: standIn)
      standIn.cancel()
    }
  }
}
