import Procedures

/// Satisfied when all that a step is after has succeeded, or was not needed.
///
/// Not `add(dependency:requiring: .success)`: a step that is not needed ends as cancelled, with the
/// reason as its error, and what is after it goes on.
struct PrerequisitesSucceeded: SynchronousCondition {
  func evaluate(_ procedure: Procedure) -> ConditionResult {
    for dependency in procedure.dependencies {
      guard let outcome = dependency.outcome else { continue }
      switch (outcome, outcome.errors.first) {
      case (.succeeded, _), (.cancelled, is StepNotNeeded):
        continue
      case (.cancelled, let error as StepSkipped) where dependency is GroupEnd:
        // The step of the group that did not succeed says more than the name of the group.
        return .failed(error)
      default:
        return .failed(StepSkipped(prerequisite: dependency.name))
      }
    }
    return .satisfied
  }
}

/// Stands for a group: it is after all its steps, and what is after the group is after this.
///
/// So `after` a group of n steps costs one dependency and not n.
final class GroupEnd: Procedure, @unchecked Sendable {
  override func execute() { finish() }
}
