internal import ProcedurePrimitives
import ProceduresProcess

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Turns Ctrl-C, Ctrl-\, Ctrl-Z, SIGTERM and SIGHUP into calls, instead of the end of this process.
///
/// The signals are blocked, from the first line of `main` on, in all threads; one of them waits for
/// them. So none is early: before a run is there, a signal ends this process, which then has nothing to
/// clean up. And none needs a thread that may not be there when the system has no more to give.
final class Interrupts: Sendable {
  /// What a run does about signals.
  struct Handler: Sendable {
    /// `count` is 1 for the first signal; Ctrl-\ counts as the second at least.
    let interrupted: @Sendable (_ count: Int) -> Void
    /// Called around the time that this process is stopped by Ctrl-Z.
    let willStop: @Sendable () -> Void
    let didContinue: @Sendable () -> Void
    /// How long after a signal the run has ended at the latest: after the first, or a later one.
    let patience: Duration
    let lastSignal: Int
    /// Called when it has not; then this process ends.
    let isStuck: @Sendable () -> Void
  }

  private struct State {
    var handler: Handler?
    var isHeld = false
    var count = 0
    var first: Int32?

    /// nil while the run may take its time.
    var patience: Duration? { handler.flatMap { count >= $0.lastSignal ? $0.patience : nil } }
  }

  private let state = Locked(State())

  /// Called first of all, while there is one thread. nil: the system has no other to give.
  init?() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP] {
      // `nohup runbook …` asks for SIGHUP to be without effect, a shell without job control for
      // SIGTSTP, and for SIGINT and SIGQUIT of what it starts in the background. SIGTERM always ends us.
      if signal != SIGTERM, Self.isIgnored(signal) { continue }
      unsafe sigaddset(&signals, signal)
    }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let waited = signals
    guard BackgroundThread.start({ self.run(waited) }) else { return nil }
  }

  /// From now on there is something to clean up: signals wait for the run.
  func hold() { state.withLock { $0.isHeld = true } }

  /// From now on signals are the run's, and those that waited. Others have ended this process.
  func handle(_ handler: Handler) {
    let waiting = state.withLock { state in
      state.handler = handler
      return state.count
    }
    if waiting > 0 { handler.interrupted(min(waiting, 2)) }
  }

  /// The first signal that came, if any.
  var firstSignal: Int32? { state.withLock { $0.first } }

  /// As if it had come from outside.
  func note(_ signal: Int32) {
    let state = state.withLock { state in
      state.first = state.first ?? signal
      state.count = max(state.count + 1, signal == SIGQUIT ? 2 : 1)
      // Under the lock: after a `hold` that returned, nothing ends this process here.
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

  /// What the run needs to end it does not get: threads, or memory for them. This thread is there.
  private func giveUp() {
    state.withLock { $0.handler }?.isStuck()
    _exit(128 + (firstSignal ?? SIGTERM))
  }

  /// nil when it is time, or for no reason.
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
    // To this thread, which so does not get any further before all have stopped.
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
