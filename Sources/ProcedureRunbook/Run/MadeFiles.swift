/// Whether a file that a step has read was made by then, if another step of the run makes it.
///
/// What comes before a step has ended when that begins. A `depfile` names what nobody knew of: in the next run the step
/// comes after who makes it, in this one it may have read what was there before.
struct MadeFiles: Sendable {
  private let steps: [Step]
  private let makers: FileMakers
  /// Of each step whether it was up to date before anything ran.
  private let isDone: [Bool]
  private let record: RunRecord

  /// nil for a plan in which no step has a `depfile`.
  init?(_ plan: Plan, isDone: [Bool], _ record: RunRecord) {
    guard plan.steps.contains(where: { $0.depfile != nil }),
      let makers = try? FileMakers(plan.steps)
    else { return nil }
    (steps, self.makers, self.isDone, self.record) = (plan.steps, makers, isDone, record)
  }

  /// What is wrong with what the `depfile` of a step names that began at `start`.
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
