internal import ProcedurePrimitives

/// A receiver that a feed refreshes.
@MainActor protocol Monitoring: AnyObject, Sendable {
  func refresh()
}

/// Refreshes a monitor after changes, once for many changes.
///
/// A change marks the feed; the first mark schedules a refresh on the main actor. The mark is
/// removed before the refresh, so that a later change schedules another: the last change is always
/// shown.
final class MonitorFeed: Sendable {
  private struct State: Sendable {
    var isDue = false
    var last: ContinuousClock.Instant?
    weak var monitor: (any Monitoring)?
  }

  private let interval: Duration
  private let state = Locked(State())

  init(interval: Duration) { self.interval = interval }

  func connect(to monitor: any Monitoring) { state.withLock { $0.monitor = monitor } }

  /// Records a change. May be called from any thread.
  func note() { note(after: .zero) }

  /// Schedules a refresh a little later, for a change that comes without an event.
  func noteSoon() { note(after: .milliseconds(15)) }

  private func note(after delay: Duration) {
    let wait: Duration? = state.withLock { state in
      guard !state.isDue else { return nil }
      state.isDue = true
      guard let last = state.last else { return delay }
      return max(delay, interval.saturatingSubtracting(last.duration(to: .now)))
    }
    guard let wait else { return }
    Task { @MainActor [self] in
      if wait > .zero { try? await Task.sleep(for: wait) }
      look()
    }
  }

  @MainActor private func look() {
    let monitor = state.withLock { state in
      state.isDue = false
      state.last = .now
      return state.monitor
    }
    monitor?.refresh()
  }
}
