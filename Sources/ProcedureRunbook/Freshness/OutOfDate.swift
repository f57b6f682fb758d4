import Procedures

/// A condition: the step must run, because it is not known to have made the current outputs from
/// the current inputs.
///
/// It is evaluated after all earlier steps have succeeded, since they may have changed its inputs.
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
