import Procedures

/// A condition: the step has to run, because what it makes is missing or older than what it reads.
///
/// It is evaluated when all that the step is after has succeeded, and may have changed its inputs.
struct OutOfDate: Condition {
  static let name = "out of date"

  let files: StepFiles
  let step: Step
  let journal: RunJournal
  /// Reads the contents of files, which may be large: the thread of the steps has no time for that.
  let readers: ProcedureQueue

  var name: String { Self.name }

  func begin(_ procedure: Procedure) -> ConditionEvaluation {
    guard files.comparesContent else { return .answered(verdict) }
    return .asynchronous { try await evaluate(procedure) }
  }

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await readers.value(of: ResultProcedure { verdict })
  }

  private var verdict: ConditionResult {
    switch files.verdict(after: journal.record(of: step.name)) {
    case .outOfDate: .satisfied
    case .upToDate: .ignored
    case .missingInput(let path):
      .failed(StepCheckFailed(description: "the input '\(path.visible)' does not exist"))
    }
  }
}
