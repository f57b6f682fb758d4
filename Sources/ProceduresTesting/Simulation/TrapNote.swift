#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif
internal import ProcedurePrimitives

/// Reports the run before a trap ends the program.
///
/// The handler does what no handler may: it acquires locks and allocates. The thread has trapped in
/// Swift code, not inside malloc; if it nevertheless holds one of the locks, the alarm ends the
/// program.
enum TrapNote {
  private static let signals = [SIGILL, SIGTRAP, SIGABRT]

  static func install() {
    for (place, signal) in signals.enumerated() {
      var action = sigaction()
      unsafe sigemptyset(&action.sa_mask)
      #if canImport(Darwin)
        unsafe action.__sigaction_u.__sa_handler = note
      #elseif canImport(Glibc)
        unsafe action.__sigaction_handler.sa_handler = note
      #elseif canImport(Musl)
        unsafe action.__sa_handler.sa_handler = note
      #else
        unsafe action.sa_handler = note
      #endif
      _ = unsafe sigaction(signal, &action, &previousActions[place])
    }
  }

  static func uninstall() {
    for (place, signal) in signals.enumerated() {
      _ = unsafe sigaction(signal, &previousActions[place], nil)
    }
  }

  private static let note: @convention(c) (Int32) -> Void = { _ in
    // If the signal is raised again after this returns, its former action runs.
    TrapNote.uninstall()
    guard let simulation = SimulationWatch.shared.current else { return }
    alarm(5)
    StandardError.write("The program stops in the simulation of seed \(simulation.seed).\n")
    StandardError.write(simulation.place + "\n")
    alarm(0)
  }
}

/// The former actions of the signals. Written under the lock of the watch.
nonisolated(unsafe) private var previousActions: [sigaction] = .init(
  repeating: sigaction(), count: 3)
