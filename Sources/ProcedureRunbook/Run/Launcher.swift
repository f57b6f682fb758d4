/// A command that runs the commands of steps, perhaps on another machine, and a command that ends
/// them there.
///
/// In both, `{name}` stands for a name that is unique on this machine. In the second one `{signal}`
/// stands for the signal: `TERM`, and `KILL` after the grace period.
struct Launcher: Sendable, Equatable {
  let command: String
  /// nil: a signal to `command` is enough.
  let cancel: String?

  /// Uses the step's own launcher with its cancel command, or else the launcher of the command
  /// line.
  init?(of step: Step, _ options: Options) {
    // A service runs on this machine.
    if step.isService { return nil }
    if let command = step.launcher {
      (self.command, cancel) = (command, step.launcherCancel)
    } else if step.executorName == nil, let command = options.launcher {
      (self.command, cancel) = (command, options.launcherCancel)
    } else {
      return nil
    }
  }

  /// The arguments of a shell that replaces itself by the launcher; the launcher gets the shell
  /// with the command.
  func arguments(running shell: [String], named name: String) -> [String] {
    ["-c", "exec \(Self.filled(command, ["name": name])) \"$@\"", "sh"] + shell
  }

  /// Returns the command that ends the program of that name.
  func cancelScript(_ signal: Signal, named name: String) -> String? {
    cancel.map { Self.filled($0, ["name": name, "signal": signal.rawValue]) }
  }

  enum Signal: String {
    case terminate = "TERM"
    case kill = "KILL"
  }

  /// Whether the command can end a program that ignores SIGTERM.
  var canKill: Bool { cancel.map { Self.filled($0, ["signal": ""]) != $0 } ?? false }

  private static func filled(_ command: String, _ values: [String: String]) -> String {
    Braces.filled(command) { values[String($0)] }
  }
}
