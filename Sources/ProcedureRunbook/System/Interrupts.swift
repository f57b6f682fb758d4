internal import ProcedurePrimitives
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Turns Ctrl-C, Ctrl-\, Ctrl-Z, SIGTERM and SIGHUP into calls, instead of ending this process.
///
/// The signals are blocked in all threads, from the first line of `main` on; one thread waits for
/// them. A signal that comes before a run ends this process, which then has nothing to clean up.
/// And no signal needs a new thread, which the system may refuse.
final class Interrupts: Sendable {
  /// The reactions of a run to signals.
  struct Handler: Sendable {
    /// Called with 1 for the first signal; Ctrl-\ counts as at least the second.
    let interrupted: @Sendable (_ count: Int) -> Void
    /// Called before Ctrl-Z stops this process, and after it continues.
    let willStop: @Sendable () -> Void
    let didContinue: @Sendable () -> Void
    /// The time that the run has to end, counted from signal `lastSignal`.
    let patience: Duration
    let lastSignal: Int
    /// Called when that time has passed; then this process ends.
    let isStuck: @Sendable () -> Void
  }

  private struct State {
    var handler: Handler?
    var isHeld = false
    var count = 0
    var first: Int32?

    /// nil while the run has no time limit.
    var patience: Duration? { handler.flatMap { count >= $0.lastSignal ? $0.patience : nil } }
  }

  private let state = Locked(State())

  /// Call it first, while there is only one thread. Returns nil if the system cannot create another
  /// one.
  init?() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP] {
      // A caller may have ignored signals: `nohup` SIGHUP, a shell without job control SIGTSTP, and
      // SIGINT and SIGQUIT for programs in the background. SIGTERM always ends this process.
      if signal != SIGTERM, Self.isIgnored(signal) { continue }
      unsafe sigaddset(&signals, signal)
    }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let waited = signals
    guard BackgroundThread.start({ self.run(waited) }) else { return nil }
  }

  /// Call it when there is something to clean up: later signals wait for the run.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Passes signals to the run, including those that have waited. Without `hold` an earlier signal
  /// has ended this process.
  func handle(_ handler: Handler) {
    let waiting = state.withLock { state in
      state.handler = handler
      return state.count
    }
    if waiting > 0 { handler.interrupted(min(waiting, 2)) }
  }

  var firstSignal: Int32? { state.withLock { $0.first } }

  /// Notes a signal as if it had come from outside.
  func note(_ signal: Int32) {
    let state = state.withLock { state in
      state.first = state.first ?? signal
      state.count = max(state.count + 1, signal == SIGQUIT ? 2 : 1)
      // It holds the lock, so that after `hold` has returned no signal ends this process here.
      if state.handler == nil, !state.isHeld { _exit(128 + signal) }
      return state
    }
    state.handler?.interrupted(state.count)
  }

  private func run(_ signals: sigset_t) {
    var signals = signals
    var end: ContinuousClock.Instant?
    while true {
      guard let signal = Self.next(of: &signals, until: end) else {
        if let end, end < .now { giveUp() }
        continue
      }
      if signal == SIGTSTP {
        stop()
      } else {
        note(signal)
        end = end ?? state.withLock { $0.patience }.map { .now + $0 }
      }
    }
  }

  /// Ends this process on this thread, which exists: the run may lack threads, or memory for them.
  private func giveUp() {
    state.withLock { $0.handler }?.isStuck()
    _exit(128 + (firstSignal ?? SIGTERM))
  }

  /// Returns nil when it is time, or without a reason.
  private static func next(
    of signals: inout sigset_t, until end: ContinuousClock.Instant?
  ) -> Int32? {
    #if !canImport(Darwin)
      if let end {
        let rest = max(.zero, end - .now).components
        var time = timespec(
          tv_sec: Int(rest.seconds), tv_nsec: Int(rest.attoseconds / 1_000_000_000))
        let signal = unsafe sigtimedwait(&signals, nil, &time)
        return signal > 0 ? signal : nil
      }
    #endif
    var signal: Int32 = 0
    return unsafe sigwait(&signals, &signal) == 0 ? signal : nil
  }

  private func stop() {
    let handler = state.withLock { $0.handler }
    handler?.willStop()
    // The signal goes to this thread, so that it cannot continue before all threads have stopped.
    raise(SIGSTOP)
    handler?.didContinue()
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    let handler = signal(number, SIG_IGN)
    let isIgnored = unsafe unsafeBitCast(handler, to: Int.self) == 1
    if !isIgnored { _ = signal(number, handler) }
    return isIgnored
  }
}
