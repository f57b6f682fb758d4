extension InputProcedure {
  /// Makes the output of `source` the input of this procedure, which then depends on it.
  ///
  /// ```swift
  /// resize.injectResult(from: download)
  /// queue.add(download, resize)
  /// ```
  ///
  /// The value is there before this procedure starts. `source` may be on a queue already, or have
  /// finished. If `source` failed, this procedure is cancelled with
  /// a `ProcedureError` with code `.dependencyFailed`; if it was cancelled, with
  /// `.dependencyCancelled`, once it has finished; if it has no output, with
  /// `.requirementNotSatisfied`. `value` of this procedure then throws what `value` of `source`
  /// does: the cause.
  ///
  /// When the value has been handed over, neither keeps the other alive: `source` leaves
  /// `dependencies`. After several injections the last hand-over counts.
  ///
  /// - Returns: this procedure.
  @inlinable
  @discardableResult
  public func injectResult(from source: some OutputProcedure<Input>) -> Self {
    if !takesOutput(of: source) {
      receive(from: source) { target, _, output in target.input = output }
    }
    return self
  }

  /// Makes the output of `source`, which may be nil, the input of this procedure.
  ///
  /// As `injectResult(from:)`; nil cancels this procedure with
  /// `ProcedureError.Code.requirementNotSatisfied`.
  @inlinable
  @discardableResult
  public func injectResult(from source: some OutputProcedure<Input?>) -> Self {
    hand(from: source) { source, output in
      guard let output else { throw source.lacksOutput }
      return output
    }
  }

  /// Transforms the output of `source`, and makes the result the input of this procedure.
  ///
  /// As `injectResult(from:)`. `transform` is called once, in this procedure's turn before it starts, if
  /// it succeeded and this procedure was not cancelled.
  ///
  /// ```swift
  /// decode.injectResult(from: request, via: { response in response.body })
  /// ```
  ///
  /// - Parameters:
  ///   - source: the procedure whose output is used. This one depends on it from here on.
  ///   - transform: if it throws, this procedure is cancelled with that error.
  /// - Returns: this procedure.
  @inlinable
  @discardableResult
  public func injectResult<Source: OutputProcedure>(
    from source: Source, via transform: @escaping @Sendable (Source.Output) throws -> Input
  ) -> Self {
    hand(from: source) { _, output in try transform(output) }
  }

  @inlinable
  func hand<Source: OutputProcedure>(
    from source: Source,
    _ transform: @escaping @Sendable (_ source: Source, Source.Output) throws -> Input
  ) -> Self {
    receive(from: source) { target, source, output in
      target.input = try transform(source, output)
    }
    return self
  }

  /// The closure holds neither procedure, so that nothing keeps them alive but the dependency.
  @inlinable
  func receive<Source: OutputProcedure>(
    from source: Source,
    _ take: @escaping @Sendable (_ target: Self, _ source: Source, Source.Output) throws -> Void
  ) {
    takeOver(from: source) { dependency, dependent in
      guard let source = dependency as? Source, let target = dependent as? Self,
        !target.isCancelled
      else { return nil }
      switch source.resultToHandOver {
      case .success(let output):
        do {
          try take(target, source, output)
          return nil
        } catch {
          return error
        }
      case .failure(let error):
        return error
      }
    }
  }
}

extension OutputProcedure {
  /// Its output, or why there is nothing to hand over; when it has finished.
  @inlinable var resultToHandOver: Result<Output, any Error> {
    if let shortfall { return .failure(shortfall) }
    switch result {
    case .success(let output): return .success(output)
    case .failure(let error): return .failure(hasFailed(with: error))
    case nil: return .failure(lacksOutput)
    }
  }
}
