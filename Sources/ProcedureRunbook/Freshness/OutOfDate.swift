import Procedures

/// A condition: the step has to run, because what it makes is missing or older than what it reads.
///
/// It is evaluated when all that the step is after has succeeded, and may have changed its inputs.
struct OutOfDate: SynchronousCondition {
  let files: StepFiles
  let step: Step
  let journal: RunJournal

  func evaluate(_ procedure: Procedure) -> ConditionResult {
    switch files.verdict(after: journal.record(of: step.name)) {
    case .outOfDate: .satisfied
    case .upToDate: .failed(StepNotNeeded(reason: "up to date"))
    case .missingInput(let path):
      .failed(StepCheckFailed(description: "the input '\(path.visible)' does not exist"))
    }
  }
}
