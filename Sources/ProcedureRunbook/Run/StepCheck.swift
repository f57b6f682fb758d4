import Procedures
import ProceduresProcess

/// Whether a step is needed, as the exit status of a command says.
///
/// The command is what the condition brings: it runs before the condition is evaluated, on the queue
/// of the step, within its limit, and is cancelled with it.
struct StepCheck: SynchronousCondition {
  /// The key of the plan: which answer is the right one.
  enum Key: String, Sendable {
    case onlyIf
    case unless
  }

  let key: Key
  let command: ProcessProcedure

  var name: String { key.rawValue }

  func prerequisites(of procedure: Procedure) -> [Procedure] { [command] }

  func evaluate(_ procedure: Procedure) -> ConditionResult {
    guard command.errors.isEmpty, case .status(let status)? = command.result?.exit else {
      return .failed(failure)
    }
    return (status == 0) == (key == .onlyIf) ? .satisfied : .ignored
  }

  /// It could not be run, or did not end by itself.
  private var failure: any Error {
    switch command.errors.first {
    case let error as ProcessError:
      let reason = error.result?.exit.description ?? error.description
      return StepCheckFailed(description: "'\(key.rawValue)' \(reason)")
    case let error?:
      return error
    case nil:
      return StepCheckFailed(description: "'\(key.rawValue)' has no exit status")
    }
  }
}
