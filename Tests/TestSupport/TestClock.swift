package import Cancellation
internal import Primitives

/// A clock whose time passes only when a test says so.
///
/// What falls due runs on the thread that advances, before `advance` returns, in order of deadline.
package final class TestClock: Sendable {
  private let service = VirtualTimers()

  package init() {}

  /// What to hand to a queue or a token.
  package var clock: TimerClock { TimerClock(service: service) }

  package var now: ContinuousClock.Instant { service.now }

  /// How many timers are pending.
  package var pendingCount: Int { service.pendingCount }

  package func advance(by duration: Duration) { service.advance(by: duration) }
}

private final class VirtualTimers: TimerService {
  private struct State {
    var wheel = TimerWheel<any TimerTarget>(nanosecondsPerTick: 1)
    var elapsed: UInt64 = 0
  }

  private let state = Locked(State())
  private let epoch = ContinuousClock.now

  var now: ContinuousClock.Instant {
    epoch.advanced(by: .nanoseconds(Int64(state.withLock { $0.elapsed })))
  }

  var pendingCount: Int { state.withLock { $0.wheel.count } }

  func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey {
    let nanoseconds = (deadline - epoch).nanosecondsRoundedUp
    return state.withLock { $0.wheel.schedule(target, at: nanoseconds) }
  }

  func cancel(_ key: SlabKey) -> Bool {
    let target = state.withLock { $0.wheel.cancel(key) }
    return target != nil
  }

  func deliver(_ work: @escaping @Sendable () -> Void) { work() }

  /// Stops at each wake-up, so that what fires may schedule more within the same stretch.
  func advance(by duration: Duration) {
    let end = state.withLock { $0.elapsed } + duration.nanosecondsRoundedUp
    while true {
      let due: [any TimerTarget]? = state.withLock { state in
        let next = min(state.wheel.nextWake ?? .max, end)
        state.elapsed = max(state.elapsed, next)
        let due = state.wheel.advance(to: state.elapsed)
        return due.isEmpty && state.elapsed >= end ? nil : due
      }
      guard let due else { return }
      for target in due { target.timerFired() }
    }
  }
}
