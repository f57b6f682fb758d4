import Procedures

/// Lets a step with `onFailure` run only if a step before it has failed.
struct AfterFailure: SynchronousCondition {
  /// Called when all of these steps have ended.
  let hasFailed: @Sendable () -> Bool

  var name: String { "nothing failed" }

  func evaluate(_ procedure: Procedure) -> ConditionResult { hasFailed() ? .satisfied : .ignored }
}
