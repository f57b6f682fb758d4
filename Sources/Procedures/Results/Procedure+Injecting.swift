extension ProcedureProtocol {
  /// Makes `dependency` a dependency, and calls `block` with both when that has finished, to hand
  /// values over.
  ///
  /// ```swift
  /// upload.inject(dependency: resize) { upload, resize, errors in
  ///   upload.image = resize.image
  /// }
  /// ```
  ///
  /// `block` is called once, when `dependency` has finished, however it ended, in this procedure's turn
  /// and before it can start: blocks of several dependencies, observers and overrides of this procedure
  /// never overlap. It runs where this procedure's queue says. It is not called if this procedure was
  /// cancelled before. It is handed both procedures, so that it need not capture them, and is released
  /// then. After it neither keeps the other alive: a dependency that succeeded leaves
  /// `dependencies`; any other stays there, for conditions, until this procedure has finished.
  ///
  /// - Parameters:
  ///   - dependency: the procedure that this one will depend on.
  ///   - block: is handed this procedure, the dependency and the dependency's errors. An error that it
  ///     throws cancels this procedure.
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
