internal import Dispatch

/// All pending deadlines of the process on one Dispatch timer source.
///
/// Scheduling arms the source only if the new deadline is the earliest; cancelling never touches it.
///
/// Unchecked because Dispatch's timer protocol is not `Sendable` on Linux, although its sources are.
public final class DispatchTimers: TimerService, @unchecked Sendable {
  /// The one of the continuous clock.
  public static let shared = DispatchTimers()

  /// About 33 microseconds: a Dispatch timer is as late by itself, so a finer grain would show little,
  /// and neighbours share a wake-up.
  private static let nanosecondsPerTick: UInt64 = 1 << 15

  /// A queue of its own quality, on which hardly anything else runs: deadlines are marked here also when
  /// each thread of the global queues, and of hundreds of queues of the default quality, is held.
  private static let queue = DispatchQueue(label: "procedures.timers", qos: .userInteractive)

  private struct State: Sendable {
    var wheel = TimerWheel<any TimerTarget>(nanosecondsPerTick: nanosecondsPerTick)
    var armedFor = UInt64.max
  }

  private let state = Locked(State())
  private let epoch = ContinuousClock.now
  private let source: any DispatchSourceTimer

  private init() {
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    // There is only the shared one, so that it is kept is no leak. A weak reference would make all of
    // its reference counting slow.
    source.setEventHandler { @Sendable in self.wake() }
    source.activate()
  }

  /// What time it is on the continuous clock.
  public var now: ContinuousClock.Instant { .now }

  /// Arms the source if this deadline is the earliest.
  public func schedule(
    _ target: any TimerTarget, at deadline: ContinuousClock.Instant
  ) -> SlabKey {
    let nanoseconds = deadline.durationSince(epoch).nanosecondsRoundedUp
    return state.withLock { state in
      if state.wheel.count == 0 { state.wheel.skip(to: (now - epoch).nanosecondsRoundedDown) }
      let key = state.wheel.schedule(target, at: nanoseconds)
      arm(&state)
      return key
    }
  }

  /// Never touches the source.
  public func cancel(_ key: SlabKey) -> Bool {
    // The target is released by the caller's frame, after the lock.
    let target = state.withLock { $0.wheel.cancel(key) }
    return target != nil
  }

  /// On a global Dispatch queue.
  public func deliver(_ work: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async(execute: work)
  }

  private func wake() {
    let elapsed = (now - epoch).nanosecondsRoundedDown
    let due = state.withLock { state in
      state.armedFor = .max
      let due = state.wheel.advance(to: elapsed)
      arm(&state)
      return due
    }
    for target in due { target.timerFired() }
  }

  /// Under the lock, so that two threads cannot arm in the wrong order. Dispatch only notes the time.
  private func arm(_ state: inout State) {
    guard let wake = state.wheel.nextWake, wake < state.armedFor else { return }
    state.armedFor = wake
    let elapsed = (now - epoch).nanosecondsRoundedDown
    let wait = wake > elapsed ? wake - elapsed : 0
    source.schedule(deadline: .now() + .nanoseconds(Int(clamping: wait)), leeway: .nanoseconds(0))
  }
}
