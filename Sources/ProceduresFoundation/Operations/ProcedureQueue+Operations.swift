public import Foundation

/// Operations on a procedure queue.
extension ProcedureQueue {
  /// Adds a procedure that runs `operation`. See `OperationProcedure`.
  ///
  /// - Returns: the procedure, to wait for or to depend on.
  @discardableResult
  public func add(_ operation: Operation) -> OperationProcedure {
    let procedure = OperationProcedure(operation)
    add(procedure)
    return procedure
  }

  /// Adds a procedure that runs `operation`, and is cancelled when `token` is.
  ///
  /// - Returns: the procedure.
  @discardableResult
  public func add(
    _ operation: Operation, cancelledBy token: CancellationToken
  ) -> OperationProcedure {
    let procedure = OperationProcedure(operation)
    add(procedure, cancelledBy: token)
    return procedure
  }

  /// Runs `operation` and waits until it has finished. Cancelling the task cancels the operation.
  ///
  /// - Returns: `.cancelled` if it was; otherwise `.succeeded`.
  @discardableResult
  public func run(_ operation: Operation) async -> ProcedureOutcome {
    await run(OperationProcedure(operation))
  }

  /// Adds a procedure for each of `operations`, in order. Their dependencies on each other stay.
  ///
  /// - Returns: the procedures, in the same order.
  @discardableResult
  public func add(_ operations: [Operation]) -> [OperationProcedure] {
    let procedures = operations.map { OperationProcedure($0) }
    add(procedures)
    return procedures
  }
}

/// Operations as children of a group.
extension GroupProcedure {
  /// Adds a child that runs `operation`. See `OperationProcedure` and `add(child:)`.
  ///
  /// - Returns: whether it was accepted.
  @discardableResult
  public final func add(child operation: Operation) -> Bool {
    add(child: OperationProcedure(operation))
  }
}

/// Operations in the closure of a group.
extension ProcedureBuilder {
  /// A child that runs an operation.
  public static func buildExpression(_ operation: Operation) -> [Procedure] {
    [OperationProcedure(operation)]
  }
}
