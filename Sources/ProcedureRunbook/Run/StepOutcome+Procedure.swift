import Procedures
import ProceduresProcess

extension StepOutcome {
  /// The outcome of a step, from the outcome of its procedure, which has finished.
  ///
  /// - Parameters:
  ///   - hasRun: whether its command was started.
  ///   - runTimeout: the limit of the whole run, if that is why it was cancelled.
  ///   - groups: the names of the groups, since the procedure of a group is no step.
  init(
    of procedure: Procedure, _ step: Step, hasRun: Bool, runTimeout: Duration?, groups: Set<Name>
  ) {
    if let condition = procedure.ignoredCondition {
      self = condition == OutOfDate.name ? .upToDate : .notNeeded(condition)
      return
    }
    let outcome = procedure.outcome ?? .cancelled([])
    switch (outcome, outcome.errors.first) {
    case (.succeeded, _):
      self = .succeeded
    case (_, let error as StepCheckFailed):
      self = .failed(error.description)
    case (_, let error as ProcedureError) where error.isOfDependency && !error.comesFromRun:
      self = .skipped(after: error.culprit(notIn: groups))
    case (_, let error as ProcedureError) where error.code == .timedOut:
      self = .timedOut(step.timeout ?? .zero)
    case (.cancelled, _):
      self =
        hasRun ? runTimeout.map { .timedOut($0, isOfRun: true) } ?? .cancelled : .notRun
    case (.failed, let error as ProcessError):
      self = .failed(error.result?.exit.description ?? error.description)
    case (.failed, let error):
      self = .failed(error.map(Self.sentence) ?? "it says no reason")
    }
  }
}

extension StepOutcome {
  /// The words of an error. If it has none, only its type means something to a reader.
  static func sentence(_ error: any Error) -> String {
    (error as? any CustomStringConvertible)?.description
      ?? "an error of the type '\(type(of: error))', without words"
  }
}

extension ProcedureError {
  fileprivate var isOfDependency: Bool { code == .dependencyFailed || code == .dependencyCancelled }

  /// Whether it says no more than that the run was stopped, which the other one heard of first.
  fileprivate var comesFromRun: Bool {
    code == .deadlineExceeded
      || code == .dependencyCancelled
        && underlyingErrors.allSatisfy { ($0 as? ProcedureError)?.comesFromRun ?? false }
  }

  /// The step that did not succeed: of a group, one of its own says more than the name of the group.
  fileprivate func culprit(notIn groups: Set<Name>) -> String {
    guard let procedure else { return "" }
    guard groups.contains(Name(procedure)), let error = underlyingErrors.first as? ProcedureError,
      error.isOfDependency
    else { return procedure }
    return error.culprit(notIn: groups)
  }
}
