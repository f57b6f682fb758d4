/// A command that runs the commands of steps, perhaps on another machine, and one that ends them there.
///
/// In both `{name}` stands for a name that no other launch of this machine has, and in the second one
/// `{signal}` for what it should send: `TERM`, and `KILL` when the grace time has passed.
struct Launcher: Sendable, Equatable {
  let command: String
  /// nil: it is enough to send `command` a signal.
  let cancel: String?

  /// A step's own launcher, with the command that belongs to it; else that of the command line.
  init?(of step: Step, _ options: Options) {
    // A service is where its steps were started.
    if step.isService { return nil }
    if let command = step.launcher {
      (self.command, cancel) = (command, step.launcherCancel)
    } else if step.executorName == nil, let command = options.launcher {
      (self.command, cancel) = (command, options.launcherCancel)
    } else {
      return nil
    }
  }

  /// The arguments of a shell, which replaces itself by the launcher, which is given the shell with the
  /// command.
  func arguments(running shell: [String], named name: String) -> [String] {
    ["-c", "exec \(Self.filled(command, ["name": name])) \"$@\"", "sh"] + shell
  }

  /// Ends what was launched under a name.
  func cancelScript(_ signal: Signal, named name: String) -> String? {
    cancel.map { Self.filled($0, ["name": name, "signal": signal.rawValue]) }
  }

  enum Signal: String {
    case terminate = "TERM"
    case kill = "KILL"
  }

  /// Whether the command can end what does not listen.
  var canKill: Bool { cancel.map { Self.filled($0, ["signal": ""]) != $0 } ?? false }

  private static func filled(_ command: String, _ values: [String: String]) -> String {
    Braces.filled(command) { values[String($0)] }
  }
}
