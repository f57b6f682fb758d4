/// How a program ended: with a status of its own, or by a signal.
public enum ProcessExit: Sendable, Hashable, CustomStringConvertible {
  /// The program exited with this status, 0…255.
  case status(Int32)
  /// The program was ended by this signal, for example 15 for SIGTERM.
  case signal(Int32)

  /// Reads as the end of a sentence: `exited with status 3`, `was ended by signal 9 (SIGKILL)`.
  public var description: String {
    switch self {
    case .status(let status): "exited with status \(status)"
    case .signal(let signal):
      "was ended by signal \(signal)" + (SignalName.of(signal).map { " (\($0))" } ?? "")
    }
  }
}
