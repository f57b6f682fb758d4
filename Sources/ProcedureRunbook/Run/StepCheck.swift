import Procedures
import ProceduresProcess

/// Decides whether a step is needed, by the exit status of a command.
///
/// The condition produces that command: it runs before the condition is evaluated, on the queue of
/// the step, within its limit, and is cancelled with it.
struct StepCheck: SynchronousCondition {
  /// The key in the plan, which decides which status is the right one.
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

  /// Whether the status of a shell means that the command does not exist or cannot be executed,
  /// which is no answer.
  static func isUnknownCommand(_ exit: ProcessExit) -> Bool {
    exit == .status(126) || exit == .status(127)
  }

  private func unknownCommand(_ status: Int32) -> StepCheckFailed {
    StepCheckFailed(
      description:
        "'\(key.rawValue)' exited with status \(status), as when a command is not found; "
        + "to ask whether there is one, write 'command -v NAME || false'")
  }

  /// It could not be run, was ended by a signal, or took too long.
  private var failure: any Error {
    switch command.errors.first {
    case let error as ProcessError:
      let reason = error.result?.exit.description ?? error.description
      return StepCheckFailed(description: "'\(key.rawValue)' \(reason)")
    case let error as ProcedureError where error.code == .timedOut:
      return StepCheckTimedOut(key: key)
    case let error?:
      return error
    case nil:
      return StepCheckFailed(description: "'\(key.rawValue)' has no exit status")
    }
  }
}

/// A check took longer than the time limit of its step.
struct StepCheckTimedOut: Error {
  let key: StepCheck.Key
}
