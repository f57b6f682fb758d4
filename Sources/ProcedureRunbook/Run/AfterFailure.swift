import Procedures

/// Lets a step with `onFailure` run only when something that it comes after has failed.
struct AfterFailure: SynchronousCondition {
  /// Asked when all of that has ended.
  let hasFailed: @Sendable () -> Bool

  var name: String { "nothing failed" }

  func evaluate(_ procedure: Procedure) -> ConditionResult { hasFailed() ? .satisfied : .ignored }
}
