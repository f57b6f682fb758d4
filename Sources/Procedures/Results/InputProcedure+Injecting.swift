extension InputProcedure {
  /// Makes the output of `source` the input of this procedure, which then depends on it.
  ///
  /// ```swift
  /// resize.injectResult(from: download)
  /// queue.add(download, resize)
  /// ```
  ///
  /// The input is set before this procedure starts. `source` may be on a queue already, or have
  /// finished. If `source` failed, or its output is an error, this procedure is cancelled with a
  /// `ProcedureError` with code `.dependencyFailed`; if `source` was cancelled, with
  /// `.dependencyCancelled`, once it has finished; if it has no output, with
  /// `.requirementNotSatisfied`. `value` of this procedure then
  /// throws the cause, which is the error that `value` of `source` throws.
  ///
  /// Once the value has been handed over, neither procedure retains the other: `source` leaves
  /// `dependencies`. After several injections the last hand-over counts.
  ///
  /// - Returns: this procedure.
  @inlinable
  @discardableResult
  public func injectResult(from source: some OutputProcedure<Input>) -> Self {
    if !addOutputHandOver(from: source) {
      inject(dependency: source) { target, source, _ in
        target.input = try source.outputToHandOver()
      }
    }
    return self
  }

  /// Makes the output of `source`, which may be nil, the input of this procedure.
  ///
  /// It works like `injectResult(from:)`; a nil output cancels this procedure with
  /// `ProcedureError.Code.requirementNotSatisfied`.
  @inlinable
  @discardableResult
  public func injectResult(from source: some OutputProcedure<Input?>) -> Self {
    inject(dependency: source) { target, source, _ in
      guard let output = try source.outputToHandOver() else { throw source.lacksOutput }
      target.input = output
    }
  }

  /// Transforms the output of `source`, and makes the result the input of this procedure.
  ///
  /// It works like `injectResult(from:)`. `transform` is called once, in this procedure's turn
  /// before it starts, if `source` succeeded and this procedure was not cancelled.
  ///
  /// ```swift
  /// decode.injectResult(from: request, via: { response in response.body })
  /// ```
  ///
  /// - Parameters:
  ///   - source: the procedure whose output is used, which becomes a dependency of this one.
  ///   - transform: if it throws, this procedure is cancelled with that error.
  /// - Returns: this procedure.
  @inlinable
  @discardableResult
  public func injectResult<Source: OutputProcedure>(
    from source: Source, via transform: @escaping @Sendable (Source.Output) throws -> Input
  ) -> Self {
    inject(dependency: source) { target, source, _ in
      target.input = try transform(source.outputToHandOver())
    }
  }
}

extension OutputProcedure {
  /// The output of a finished procedure.
  ///
  /// - Throws: the error that explains why there is no output.
  @inlinable
  package func outputToHandOver() throws -> Output {
    if let shortfall { throw shortfall }
    switch result {
    case .success(let output): return output
    case .failure(let error): throw hasErrorAsOutput(error)
    case nil: throw lacksOutput
    }
  }
}
