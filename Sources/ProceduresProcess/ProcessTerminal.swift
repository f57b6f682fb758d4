/// How a program uses the terminal that this process was started from.
public enum ProcessTerminal: Sendable, Hashable {
  /// Nothing: `/dev/tty` cannot be opened, so what asks for a password there fails instead of
  /// waiting forever. The program is in a session of its own. The default.
  case none
  /// The program is in the foreground while it runs: it reads the terminal, and Ctrl-C is for it.
  ///
  /// One program at a time can be. When it is stopped by Ctrl-Z, so is this process. Connect its
  /// standard streams to the terminal with `.inherited`. This process must be in the foreground
  /// itself, else the program is not started; without a terminal it is as `.none`.
  case foreground
}
