extension OutputProcedure {
  /// Waits until the procedure has finished, and returns its output.
  ///
  /// It must be on a queue or in a group, or this waits until it is. Cancelling the waiting task
  /// ends only the wait.
  ///
  /// ```swift
  /// resize.injectResult(from: download)
  /// do {
  ///   show(try await resize.value)
  /// } catch let error as HTTPError {  // the download's
  ///   show(error)
  /// }
  /// ```
  ///
  /// - Throws: the first error of a procedure that failed or was cancelled; `CancellationError` if
  ///   it was cancelled without one, or the waiting task was. If a dependency kept it from running,
  ///   it throws the cause, as `value` of that dependency would; `errors` has the
  ///   `ProcedureError` that names the dependency. If it finished without an output, a
  ///   `ProcedureError` with code `.requirementNotSatisfied`.
  public var value: Output {
    get async throws {
      try await waitUntilFinished().get()
      return try requireOutput()
    }
  }

  /// The output of a procedure that has succeeded.
  func requireOutput() throws -> Output {
    guard let result else { throw ProcedureError(.requirementNotSatisfied, of: name) }
    return try result.get()
  }
}
