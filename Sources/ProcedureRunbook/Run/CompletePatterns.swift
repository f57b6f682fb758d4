import Procedures
import ProceduresProcess

/// Lets a step run only if the patterns of the plan still find the same files as when the plan was
/// read.
///
/// It is evaluated when all steps before it have ended, since they may have made files that the
/// plan does not name.
struct CompletePatterns: Condition {
  let watches: [PatternWatch]
  /// The search runs on these threads, since some file systems are slow.
  let threads: HandlerThreads

  var name: String { "its patterns have found all files" }

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    await withCheckedContinuation { continuation in
      threads.run { [self] in
        let problem = watches.lazy.compactMap { $0.lookOnce() }.first
        continuation.resume(returning: problem.map { .failed(Self.failure($0)) } ?? .satisfied)
      }
    }
  }

  private static func failure(_ problem: String) -> StepCheckFailed {
    StepCheckFailed(
      description:
        "\(problem): run the plan again, or name what is made in the 'outputs' of its step")
  }
}
