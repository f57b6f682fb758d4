/// Whether a file that a step has read was made by then, if another step of the run makes it.
///
/// All steps before it have ended when a step begins. But its `depfile` may name a file of a step that the plan does not
/// put before it: in the next run it comes after that step, in this one it may have read an old file.
struct MadeFiles: Sendable {
  private let steps: [Step]
  private let makers: FileMakers
  /// For each step whether it was up to date before anything ran.
  private let isDone: [Bool]
  private let record: RunRecord

  /// nil for a plan in which no step has a `depfile`.
  init?(_ plan: Plan, isDone: [Bool], _ record: RunRecord) {
    guard plan.steps.contains(where: { $0.depfile != nil }),
      let makers = try? FileMakers(plan.steps)
    else { return nil }
    (steps, self.makers, self.isDone, self.record) = (plan.steps, makers, isDone, record)
  }

  /// Why a step that began at `start` has failed because of its `depfile`; nil if it has not.
  func problem(of step: Step, began start: ContinuousClock.Instant) -> StepCheckFailed? {
    for file in step.dependencies ?? [] {
      for maker in makers.steps(making: step.path(of: file))
      where steps[maker].name != step.name && !isDone[maker] {
        guard record.hasEnded(steps[maker].name, before: start) else {
          return StepCheckFailed(
            description:
              "it has read '\(file.visible)' before '\(steps[maker].name.visible)' had made "
              + "that; from now on it comes after that step")
        }
      }
    }
    return nil
  }
}
