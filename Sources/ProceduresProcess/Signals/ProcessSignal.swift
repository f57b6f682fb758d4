#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// A signal that asks this process to do something, for `CancellationToken.signals`.
public struct ProcessSignal: Hashable, Sendable, CustomStringConvertible {
  /// The system's number.
  public let number: Int32

  /// Any signal, by its number. `SIGKILL` and `SIGSTOP` cannot be caught.
  public init(number: Int32) { self.number = number }

  /// Ctrl-C.
  public static let interrupt = ProcessSignal(number: SIGINT)
  /// `kill`, service managers and containers send it to end a process.
  public static let terminate = ProcessSignal(number: SIGTERM)
  /// The terminal was closed.
  public static let hangup = ProcessSignal(number: SIGHUP)
  /// Ctrl-\.
  public static let quit = ProcessSignal(number: SIGQUIT)
  /// For the program's own use.
  public static let user1 = ProcessSignal(number: SIGUSR1)
  /// For the program's own use.
  public static let user2 = ProcessSignal(number: SIGUSR2)

  /// The exit status that shells and service managers use for a program that ended because of the
  /// signal: 128 plus its number, so 130 after Ctrl-C and 143 after SIGTERM.
  public var exitStatus: Int32 { Int32(clamping: 128 + Int(number)) }

  /// Its name, for example `SIGINT`.
  public var description: String { SignalName.of(number) ?? "signal \(number)" }
}
