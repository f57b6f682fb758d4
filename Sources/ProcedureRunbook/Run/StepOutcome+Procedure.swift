import Procedures
import ProceduresProcess

extension StepOutcome {
  /// Computes the outcome of a step from its finished procedure.
  ///
  /// - Parameters:
  ///   - hasRun: whether its command was started.
  ///   - runTimeout: the time limit of the whole run, if that has cancelled it.
  ///   - groups: the names of the groups, since the procedure of a group is not a step.
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
    case (_, let error as StepCheckTimedOut):
      self = .timedOut(step.timeout ?? .zero, of: .check(error.key))
    case (_, let error as ProcedureError) where error.isOfDependency && !error.comesFromRun:
      self = .skipped(after: error.culprit(notIn: groups))
    case (_, let error as ProcedureError) where error.code == .timedOut:
      self = .timedOut(step.timeout ?? .zero)
    case (.cancelled, _):
      self =
        hasRun ? runTimeout.map { .timedOut($0, of: .run) } ?? .cancelled : .notRun
    case (.failed, let error as ProcessError):
      self = .failed(error.result?.exit.description ?? error.description)
    case (.failed, let error):
      self = .failed(error.map(Self.sentence) ?? "it says no reason")
    }
  }
}

extension StepOutcome {
  /// The description of an error, or the name of its type if it has none.
  static func sentence(_ error: any Error) -> String {
    (error as? any CustomStringConvertible)?.description
      ?? "an error of the type '\(type(of: error))', without words"
  }
}

extension ProcedureError {
  fileprivate var isOfDependency: Bool { code == .dependencyFailed || code == .dependencyCancelled }

  /// Whether it only says that the run was stopped, of which another procedure learned first.
  fileprivate var comesFromRun: Bool {
    code == .deadlineExceeded
      || code == .dependencyCancelled
        && underlyingErrors.allSatisfy { ($0 as? ProcedureError)?.comesFromRun ?? false }
  }

  /// The step that did not succeed. If a group did not, the name of one of its steps says more.
  fileprivate func culprit(notIn groups: Set<Name>) -> String {
    guard let procedure else { return "" }
    guard groups.contains(Name(procedure)), let error = underlyingErrors.first as? ProcedureError,
      error.isOfDependency
    else { return procedure }
    return error.culprit(notIn: groups)
  }
}
