/// A requirement of a procedure for a dependency, besides its finish.
public enum DependencyRequirement: Sendable {
  /// Only that it has finished: a dependency says in what order things happen. The default.
  case any
  /// That it was not cancelled. It may have failed.
  case notCancelled
  /// That it succeeded: neither failed nor cancelled.
  case success
  /// That it succeeded, or did not run because one of its conditions was ignored: it had nothing to do.
  ///
  /// See `Procedure.ignoredCondition`.
  case successOrIgnored
}

extension DependencyRequirement {
  /// Why the dependent cannot run after a dependency that ended like this; nil if it can.
  @inline(__always)
  func objection(to dependency: Procedure) -> (any Error)? {
    if case .any = self { return nil }
    return realObjection(to: dependency)
  }

  private func realObjection(to dependency: Procedure) -> (any Error)? {
    let shortfall = dependency.shortfall
    switch self {
    case .notCancelled where shortfall?.code == .dependencyFailed: return nil
    case .successOrIgnored where dependency.ignoredCondition != nil: return nil
    case .any, .notCancelled, .success, .successOrIgnored: return shortfall
    }
  }
}

extension Procedure {
  /// Why a dependent that requires success cannot run; nil after a success, or before the end.
  @usableFromInline final var shortfall: ProcedureError? {
    switch outcome {
    case .succeeded, nil: nil
    case .failed(let errors): .dependencyFailed(name, errors.causes, from: origin)
    case .cancelled(let errors): .dependencyCancelled(name, errors.causes, from: origin)
    }
  }
}

extension Procedure {
  /// The group that it was a child of when it ended, if it did not succeed.
  private var origin: GroupReference? { read { $0.ending?.origin } }
}
