/// A condition that is satisfied if no dependency of the procedure failed or was cancelled.
///
/// ```swift
/// upload.add(dependency: resize)
/// upload.add(condition: NoFailedDependencies())
/// ```
///
/// Unlike `add(dependency:requiring:)` it checks all dependencies, after all have finished. It
/// fails with `ProcedureError.Code.dependencyFailed`, or with `.dependencyCancelled` if none
/// failed; the error names the first such dependency.
public struct NoFailedDependencies: SynchronousCondition {
  /// The effect of a cancelled dependency, with or without errors.
  public enum Cancelled: Sendable {
    /// The dependency counts as failed.
    case fail
    /// The procedure is cancelled without errors.
    case ignore
    /// The procedure runs.
    case pass
  }

  private let onCancelled: Cancelled

  /// Makes the condition. A cancelled dependency fails it unless you say otherwise.
  public init(onCancelled: Cancelled = .fail) {
    self.onCancelled = onCancelled
  }

  /// Checks all dependencies. O(n).
  public func evaluate(_ procedure: Procedure) -> ConditionResult {
    var result = ConditionResult.satisfied
    for dependency in procedure.dependencies {
      guard let shortfall = dependency.shortfall else { continue }
      if shortfall.code == .dependencyFailed { return .failed(shortfall) }
      guard case .satisfied = result else { continue }
      switch onCancelled {
      case .pass: continue
      case .ignore: result = .ignored
      case .fail: result = .failed(shortfall)
      }
    }
    return result
  }
}
