extension OutputProcedure {
  /// Waits until the procedure has finished, and returns what it made.
  ///
  /// It must be on a queue or in a group, or this waits until it is. Cancelling the waiting task
  /// ends only the wait.
  ///
  /// - Throws: the first error of a procedure that failed or was cancelled; `CancellationError` if
  ///   it was cancelled without one, or the waiting task was;
  ///   `ProcedureError.requirementNotSatisfied` if it finished without an output.
  public var value: Output {
    get async throws {
      switch await waitUntilFinished() {
      case .failed(let errors): throw errors[0]
      case .cancelled(let errors): throw errors.first ?? CancellationError()
      case .succeeded: return try requireOutput()
      }
    }
  }

  /// The output of a procedure that has succeeded.
  func requireOutput() throws -> Output {
    guard let result else { throw ProcedureError.requirementNotSatisfied(name) }
    return try result.get()
  }
}

extension ProcedureQueue {
  /// Adds a procedure and waits for what it makes. Cancelling the task cancels the procedure.
  ///
  /// ```swift
  /// let count = try await queue.value(of: ResultProcedure { try countWords(in: file) })
  /// ```
  ///
  /// It waits for the finish also then: nothing of the procedure runs after this has returned.
  ///
  /// - Throws: as `value`.
  public func value<Output: Sendable>(
    of procedure: some OutputProcedure<Output>
  ) async throws -> Output {
    switch await run(procedure) {
    case .failed(let errors): throw errors[0]
    case .cancelled(let errors): throw errors.first ?? CancellationError()
    case .succeeded: return try procedure.requireOutput()
    }
  }
}
