internal import ProcedurePrimitives

/// A receiver that a feed has look again.
@MainActor protocol Monitoring: AnyObject, Sendable {
  func refresh()
}

/// Has a monitor look again when something has changed, once for many changes.
///
/// A change marks the feed; the first mark asks the main actor for a look. The mark is taken off before the
/// look, so that a change that comes later asks for another: the last one is always seen.
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

  /// Something has changed. Any thread may call it.
  func note() { note(after: .zero) }

  /// Something is about to change without an event: looks once more, a little later.
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
