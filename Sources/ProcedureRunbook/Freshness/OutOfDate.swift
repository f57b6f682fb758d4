import Procedures

/// A condition: the step has to run, because it is not known to have made what is there from what is there.
///
/// It is evaluated when all that the step is after has succeeded, and may have changed its inputs.
struct OutOfDate: Condition {
  static let name = "out of date"

  let freshness: StepFreshness

  var name: String { Self.name }

  func begin(_ procedure: Procedure) -> ConditionEvaluation {
    if let verdict = freshness.verdict { return .answered(Self.answer(to: verdict)) }
    return .asynchronous { try await evaluate(procedure) }
  }

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    await withCheckedContinuation { continuation in
      freshness.look { continuation.resume(returning: Self.answer(to: $0)) }
    }
  }

  private static func answer(to verdict: StepFiles.Verdict) -> ConditionResult {
    switch verdict {
    case .outOfDate: .satisfied
    case .upToDate: .ignored
    case .refused(let reason): .failed(StepCheckFailed(description: reason))
    }
  }
}
