extension ProcedureQueue {
  /// Adds a procedure and waits for its output. Cancelling the task cancels the procedure.
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
    try await run(procedure).get()
    return try procedure.requireOutput()
  }
}
