internal import ProcedurePrimitives

extension ProcedureProtocol {
  /// Waits for `dependency`, and has `block` take over from it whatever is needed.
  ///
  /// ```swift
  /// upload.inject(dependency: resize) { upload, resize, errors in
  ///   upload.image = resize.image
  /// }
  /// ```
  ///
  /// `block` is called once, when `dependency` has finished, however it ended, on the worker that
  /// finished it, and before this procedure can start. It is not called if this procedure was
  /// cancelled before. It is no part of a turn: this procedure has not started, but may be told of a
  /// cancel meanwhile. It is handed both procedures, so that it need not capture them, and is let go
  /// of then. After it neither keeps the other alive: a dependency that succeeded leaves
  /// `dependencies`; one that did not stays there, for conditions, until this procedure has finished.
  ///
  /// - Parameter block: is handed this procedure, the dependency and the dependency's errors. An
  ///   error that it throws cancels this procedure.
  /// - Returns: this procedure.
  @discardableResult
  public func inject<Dependency: Procedure>(
    dependency: Dependency,
    _ block:
      @escaping @Sendable (
        _ procedure: Self, _ dependency: Dependency, _ errors: [any Error]
      ) throws -> Void
  ) -> Self {
    let handOver = HandOver { dependency, dependent in
      guard let dependency = dependency as? Dependency, let dependent = dependent as? Self,
        !dependent.isCancelled
      else { return nil }
      do {
        try block(dependent, dependency, dependency.errors)
        return nil
      } catch {
        return error
      }
    }
    add(dependency: dependency, demanding: .handOver(handOver))
    return self
  }
}

extension Procedure {
  /// A dependency has handed over what it had to, and is not needed any more.
  ///
  /// Of many dependencies, so as not to search a long list for each, all leave with the last.
  final func letGo(of dependency: Procedure) {
    let released: [ProcedureExtras.Dependency] = read { core in
      guard let extras = core.extras else { return [] }
      if extras.dependencies.count <= 64 {
        let index = extras.dependencies.firstIndex {
          $0.procedure === dependency && $0.demand.isDone(with: dependency)
        }
        return index.map { [extras.dependencies.remove(at: $0)] } ?? []
      }
      guard core.machine.isLastDependency else { return [] }
      let all = extras.dependencies
      extras.dependencies = all.keeping { !$0.demand.isDone(with: $0.procedure) }
      return Array(all)
    }
    _ = released
  }
}

extension DependencyDemand {
  /// Whether something was to be handed over, and nothing is left to know of the dependency.
  ///
  /// One that failed or was cancelled stays: a condition may ask for it.
  func isDone(with dependency: Procedure) -> Bool {
    guard case .handOver = self, dependency.isFinished else { return false }
    return !dependency.isCancelled && !dependency.failed
  }
}
