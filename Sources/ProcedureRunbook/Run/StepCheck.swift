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
    if Self.isUnknownCommand(.status(status)) { return .failed(unknownCommand(status)) }
    return (status == 0) == (key == .onlyIf) ? .satisfied : .ignored
  }

  /// What a shell ends with when there is no such command, or it cannot be executed: that is no answer.
  static func isUnknownCommand(_ exit: ProcessExit) -> Bool {
    exit == .status(126) || exit == .status(127)
  }

  private func unknownCommand(_ status: Int32) -> StepCheckFailed {
    StepCheckFailed(
      description:
        "'\(key.rawValue)' exited with status \(status), as when a command is not found; "
        + "to ask whether there is one, write 'command -v NAME || false'")
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
