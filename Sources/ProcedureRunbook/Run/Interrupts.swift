import Dispatch
import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Turns Ctrl-C, SIGTERM and SIGHUP into calls, instead of the end of this process.
///
/// All state is confined to `queue`, on which the handler is called too.
final class Interrupts: @unchecked Sendable {
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  private let queue = DispatchQueue(label: "interrupts")
  private let handler: @Sendable (_ count: Int) -> Void
  private var sources: [any DispatchSourceSignal] = []
  private var count = 0
  private var first: Int32?

  init(handler: @escaping @Sendable (_ count: Int) -> Void) { self.handler = handler }

  /// Returns when signals are caught; one that comes earlier ends this process as usual.
  func start() async {
    for number in Self.signals where !Self.isIgnoredByCaller(number) {
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      nonisolated(unsafe) let held = source
      source.setEventHandler { @Sendable [self] in unsafe note(number, times: Int(held.data)) }
      sources.append(source)
      await withCheckedContinuation { continuation in
        source.setRegistrationHandler { @Sendable in
          #if canImport(Darwin)
            // There the source only watches. On Linux it takes the signal, and this would lose it.
            _ = signal(number, SIG_IGN)
          #endif
          continuation.resume()
        }
        source.activate()
      }
    }
  }

  /// `nohup runbook …` asks for SIGHUP to be without effect.
  ///
  /// Not so for SIGINT: a shell script that starts us in the background has it ignored too.
  private static func isIgnoredByCaller(_ number: Int32) -> Bool {
    guard number == SIGHUP else { return false }
    let handler = signal(number, SIG_IGN)
    let isIgnored = unsafe unsafeBitCast(handler, to: Int.self) == 1
    if !isIgnored { _ = signal(number, handler) }
    return isIgnored
  }

  /// The first signal that came, if any.
  func stop() -> Int32? {
    for source in sources { source.cancel() }
    return queue.sync { first }
  }

  private func note(_ signal: Int32, times: Int) {
    first = first ?? signal
    for _ in 0..<times {
      count += 1
      handler(count)
    }
  }
}
