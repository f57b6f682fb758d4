import Procedures
import ProceduresFoundation

extension StepOutcome {
  /// What became of a step, by the outcome of its procedure.
  ///
  /// - Parameters:
  ///   - hasRun: whether its command was started.
  ///   - runTimeout: the limit of the whole run, if that is why it was cancelled.
  init(of outcome: ProcedureOutcome, _ step: Step, hasRun: Bool, runTimeout: Duration?) {
    switch (outcome, outcome.errors.first?.cause) {
    case (.succeeded, _):
      self = .succeeded
    case (_, let error as StepNotNeeded):
      self = .notNeeded(error.reason)
    case (_, let error as StepSkipped):
      self = .skipped(after: error.prerequisite)
    case (_, let error as StepCheckFailed):
      self = .failed(error.description)
    case (_, let error as ProcedureError) where error.code == .timedOut:
      self = .timedOut(step.timeout ?? .zero)
    case (.cancelled, _):
      self = hasRun ? runTimeout.map(Self.timedOut) ?? .cancelled : .notRun
    case (.failed, let error as ProcessError):
      self = .failed(error.result?.exit.description ?? error.description)
    case (.failed(let errors), let error):
      self = .failed(error.map { "\($0)" } ?? "\(errors)")
    }
  }
}

extension Error {
  /// What a group's child ended with, if this is the group's error for that.
  var cause: any Error {
    guard let error = self as? ProcedureError, error.code == .child else { return self }
    return error.underlyingErrors.first ?? self
  }
}
