/// What a procedure asks of a dependency beside that it has finished.
public enum DependencyRequirement: Sendable {
  /// Only that it has finished: a dependency says in what order things happen. The default.
  case any
  /// That it was not cancelled. It may have failed.
  case notCancelled
  /// That it succeeded: neither failed nor cancelled.
  case success
}

/// What stands between a dependency that has finished and the procedure that waits for it.
enum DependencyDemand: Sendable {
  case requirement(DependencyRequirement)
  case handOver(HandOver)

  /// Why the dependent cannot run after a dependency that ended like this; nil if it can.
  func objection(to dependency: Procedure, of dependent: Procedure) -> (any Error)? {
    switch self {
    case .requirement(.any):
      return nil
    case .requirement(let requirement):
      let shortfall = dependency.shortfall
      if case .dependencyFailed? = shortfall, case .notCancelled = requirement { return nil }
      return shortfall
    case .handOver(let handOver):
      return handOver.body(dependency, dependent)
    }
  }
}

extension Procedure {
  /// Why one that needs this to have succeeded cannot run; nil if it did, or has not finished.
  final var shortfall: ProcedureError? {
    switch outcome {
    case .succeeded, nil: nil
    case .failed(let errors): .dependencyFailed(name, errors.causes)
    case .cancelled(let errors): .dependencyCancelled(name, errors.causes)
    }
  }
}

/// Carries something from a dependency that has finished to its dependent, before that can start.
///
/// Called by the worker that finished the dependency, with no lock held. An error cancels the
/// dependent with it.
final class HandOver: Sendable {
  typealias Body = @Sendable (_ dependency: Procedure, _ dependent: Procedure) -> (any Error)?

  let body: Body

  init(_ body: @escaping Body) {
    self.body = body
  }
}
