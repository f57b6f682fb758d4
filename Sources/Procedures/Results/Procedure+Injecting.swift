extension ProcedureProtocol {
  /// Adds a dependency, and calls `block` once it has finished, to hand values over.
  ///
  /// ```swift
  /// upload.inject(dependency: resize) { upload, resize, errors in
  ///   upload.image = resize.image
  /// }
  /// ```
  ///
  /// `block` is called once, when `dependency` has finished, even if it failed, in this procedure's
  /// turn and before this procedure can start: blocks of several dependencies, observers and
  /// overrides of this procedure never overlap. It runs on a worker of this procedure's queue. It
  /// is not called if this procedure was cancelled before. It receives both procedures, so that it
  /// need not capture them, and is released after the call. A dependency that succeeded then leaves
  /// `dependencies`, and neither procedure retains the other; any other dependency stays there, for
  /// conditions, until this procedure has finished.
  ///
  /// - Parameters:
  ///   - dependency: the procedure on which this one will depend.
  ///   - block: receives this procedure, the dependency and the dependency's errors. An error that
  ///     it throws cancels this procedure.
  /// - Returns: this procedure.
  @discardableResult
  public func inject<Dependency: Procedure>(
    dependency: Dependency,
    _ block:
      @escaping @Sendable (
        _ procedure: Self, _ dependency: Dependency, _ errors: [any Error]
      ) throws -> Void
  ) -> Self {
    add(ClosureHandOver(from: dependency, block))
    return self
  }
}
