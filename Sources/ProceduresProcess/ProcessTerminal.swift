/// How a program uses the terminal that this process was started from.
public enum ProcessTerminal: Sendable, Hashable {
  /// The program has no terminal: `/dev/tty` cannot be opened, so a program that asks for a
  /// password there fails instead of waiting forever. It is in a session of its own. This is the
  /// default.
  case none
  /// The program is in the foreground while it runs: it reads the terminal, and Ctrl-C is for it.
  ///
  /// Only one program at a time can be in the foreground. When Ctrl-Z stops it, this process stops,
  /// too. Connect its standard streams to the terminal with `.inherited`. This process must be in
  /// the foreground itself, otherwise the program is not started; without a terminal this is like
  /// `.none`.
  case foreground
}
