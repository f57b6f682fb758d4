import Foundation
import Procedures
import ProceduresFoundation

/// Whether a step is needed, as the exit status of a command says.
///
/// The command is what the condition brings: it runs before the condition is evaluated, on the queue
/// of the step's command, within its limit, and is cancelled with that.
struct StepCheck: SynchronousCondition {
  /// The key of the plan: which answer is the right one.
  enum Key: String, Sendable {
    case onlyIf
    case unless
  }

  let key: Key
  let command: ProcessProcedure

  init(_ key: Key, of step: Step, command: ProcessProcedure) {
    self.key = key
    self.command = command
    command.name = "\(key.rawValue) of \(step.name)"
    if let timeout = step.timeout { command.add(observer: TimeoutObserver(by: timeout)) }
  }

  var name: String { command.name }

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
      StepCheckFailed(key: key, reason: error.result?.exit.description ?? error.description)
    case let error?: error
    case nil: StepCheckFailed(key: key, reason: "has no exit status")
    }
  }
}
