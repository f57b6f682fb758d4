/// Checks whether a file that a step has read was already made, if another step of the run makes
/// it.
///
/// All steps before a step have ended when it begins. But its `depfile` may name an output of
/// another step. In the next run it comes after that step; in this one it may have read an old
/// file.
struct MadeFiles: Sendable {
  private let plan: Plan
  private let makers: FileMakers
  /// For each step, whether it was up to date before anything ran.
  private let isDone: [Bool]
  private let record: RunRecord
  private let shared: StepFreshness.Shared

  /// Returns nil for a plan in which no step has a `depfile`.
  init?(_ plan: Plan, isDone: [Bool], _ record: RunRecord, _ shared: StepFreshness.Shared) {
    guard plan.steps.contains(where: { $0.depfile != nil }),
      let makers = try? FileMakers(plan.steps)
    else { return nil }
    (self.plan, self.makers, self.isDone, self.record) = (plan, makers, isDone, record)
    self.shared = shared
  }

  /// The reason why a step that began at `start` has failed because of its `depfile`; nil if it has
  /// not.
  ///
  /// - Parameter files: the files that the `depfile` names.
  func problem(
    of step: Step, reading files: [FilePath], began start: ContinuousClock.Instant
  ) -> StepCheckFailed? {
    for file in files {
      for maker in makers.steps(making: file) {
        let name = plan.steps[maker].name
        guard name == step.name || hasEnded(maker, before: start) || willNotRun(maker) else {
          return StepCheckFailed(
            description:
              "it has read '\(step.shown(file))' before '\(name.visible)' had made that; "
              + "from now on it comes after that step")
        }
      }
    }
    return nil
  }

  private func hasEnded(_ index: Int, before instant: ContinuousClock.Instant) -> Bool {
    isDone[index] || record.hasEnded(plan.steps[index].name, before: instant)
  }

  /// Whether a step is up to date that may not have been checked yet, and so are all unfinished
  /// steps before it.
  private func willNotRun(_ index: Int) -> Bool {
    var seen: Set = [index]
    var rest = [index]
    while let index = rest.popLast() {
      let step = plan.steps[index]
      guard step.isRemembered, StepFreshness(of: step, shared).look() == .upToDate else {
        return false
      }
      rest += plan.graph.stepsBefore(index).filter {
        !hasEnded($0, before: .now) && seen.insert($0).inserted
      }
    }
    return true
  }
}
