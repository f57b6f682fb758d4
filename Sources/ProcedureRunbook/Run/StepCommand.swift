import Foundation
import Procedures
import ProceduresFoundation

/// Makes the procedures that run the commands of one step.
struct StepCommand: Sendable {
  let step: Step
  let output: StepOutput
  let programs: RunningPrograms
  let gracePeriod: Duration
  /// A command to run the step's by; nil for none.
  let launcher: String?

  /// One attempt at the step.
  func attempt() -> ProcessProcedure {
    let command = shell(arguments) { configuration in
      configuration.standardOutput = .streamed(output.append)
      configuration.mergesStandardError = true
      if step.terminal, Terminal.isInteractive {
        configuration.terminal = .foreground
        configuration.standardInput = .inherited
        configuration.standardOutput = .inherited
      }
    }
    command.name = step.name
    return command
  }

  /// The conditions that decide whether it is needed, in the order in which they are asked.
  func checks() -> [StepCheck] {
    let scripts: [(key: StepCheck.Key, text: String?)] = [
      (.onlyIf, step.onlyIf), (.unless, step.unless),
    ]
    return scripts.compactMap { key, text in
      text.map { text in
        let command = shell(["-c", text]) { configuration in
          configuration.standardOutput = .discarded
          configuration.standardError = .streamed(output.append)
          configuration.successStatuses = Set(0...255)
        }
        command.name = "\(key.rawValue) of \(step.name)"
        return StepCheck(key: key, command: command)
      }
    }
  }

  /// The shell, which replaces itself by the launcher, which is given a shell with the command.
  private var arguments: [String] {
    guard let launcher else { return ["-c", step.run] }
    return ["-c", "exec \(launcher) \"$@\"", "sh", "/bin/sh", "-c", step.run]
  }

  private func shell(
    _ arguments: [String], _ configure: (inout ProcessConfiguration) -> Void
  ) -> ProcessProcedure {
    let command = ProcessProcedure("/bin/sh", arguments: arguments) { configuration in
      configuration.directory = step.directory
      configuration.environment.set(step.environment)
      configuration.endsDescendants = true
      configuration.terminationGracePeriod = gracePeriod
      configure(&configuration)
    }
    if let timeout = step.timeout { command.add(observer: TimeoutObserver(by: timeout)) }
    programs.watch(command)
    return command
  }
}
