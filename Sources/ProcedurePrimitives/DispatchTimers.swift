package import Dispatch

/// All pending deadlines of the process, on two Dispatch timer sources.
///
/// Scheduling arms the sources only if the new deadline is the earliest; cancelling never touches them.
///
/// The continuous clock counts while the machine sleeps, and Dispatch's uptime does not. So there are two sources: one
/// by uptime, which is exact, and one by the wall clock, which is due as soon as a machine that has slept is awake. Both
/// do the same, look at the continuous clock, and so neither is ever early.
///
/// Unchecked because Dispatch's timer protocol is not `Sendable` on Linux, although its sources are.
public final class DispatchTimers: TimerService, @unchecked Sendable {
  /// The one of the continuous clock.
  public static let shared = DispatchTimers(
    now: { .now }, makeAlarms: { [alarm(isByWall: false, $0), alarm(isByWall: true, $0)] })

  /// About 33 microseconds: a Dispatch timer is as late by itself, so a finer grain would show little,
  /// and neighbours share a wake-up.
  private static let nanosecondsPerTick: UInt64 = 1 << 15

  private struct State: Sendable {
    var wheel = TimerWheel<any TimerTarget>(nanosecondsPerTick: nanosecondsPerTick)
    var armedFor = UInt64.max
  }

  private let state = Locked(State())
  private let readNow: @Sendable () -> ContinuousClock.Instant
  private let epoch: ContinuousClock.Instant
  private var alarms: [any TimerAlarm] = []

  /// Makes one of another clock: for tests.
  package init(
    now: @escaping @Sendable () -> ContinuousClock.Instant,
    makeAlarms: (_ wake: @escaping @Sendable () -> Void) -> [any TimerAlarm]
  ) {
    readNow = now
    epoch = now()
    // There is only the shared one, so that it is kept is no leak. A weak reference would make all of
    // its reference counting slow.
    alarms = makeAlarms { self.wake() }
  }

  /// One of Dispatch's, by uptime or by the wall clock.
  package static func alarm(
    isByWall: Bool, _ wake: @escaping @Sendable () -> Void
  ) -> any TimerAlarm {
    DispatchAlarm(isByWall ? .wall : .uptime, wake)
  }

  /// How late a wait may end: who waits for a second does not need the microsecond, and a battery lasts longer.
  ///
  /// A thousandth, 50 ms at most; nothing below a second.
  package static func leeway(of nanoseconds: UInt64) -> DispatchTimeInterval {
    nanoseconds < 1_000_000_000
      ? .nanoseconds(0) : .nanoseconds(Int(min(nanoseconds / 1_000, 50_000_000)))
  }

  /// The time of the continuous clock.
  public var now: ContinuousClock.Instant { readNow() }

  /// Arms the sources if this deadline is the earliest.
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

  /// Never touches a source.
  public func cancel(_ key: SlabKey) -> Bool {
    // The target is released by the caller's frame, after the lock.
    let target = state.withLock { $0.wheel.cancel(key) }
    return target != nil
  }

  /// On a thread of Dispatch's pool, or a spare one.
  public func deliver(_ work: @escaping @Sendable () -> Void) {
    WorkLine.shared(.default).submit(work)
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
    for alarm in alarms { alarm.arm(after: wait) }
  }
}

/// Wakes timers once, some time from now.
package protocol TimerAlarm: AnyObject, Sendable {
  /// Replaces the time that it was armed for before. Called under a lock: it must not wake at once.
  func arm(after nanoseconds: UInt64)
}

/// A Dispatch timer source.
///
/// Unchecked for the same reason as `DispatchTimers`.
private final class DispatchAlarm: TimerAlarm, @unchecked Sendable {
  enum Clock {
    /// Stands still while the machine sleeps.
    case uptime
    /// May be set.
    case wall
  }

  /// A queue of its own quality, on which hardly anything else runs: deadlines are marked here also when
  /// each thread of the global queues, and of hundreds of queues of the default quality, is held.
  private static let queue = DispatchQueue(label: "procedures.timers", qos: .userInteractive)

  /// A machine that has slept may see this much later that a deadline has passed. Less than that to wait needs no
  /// second source.
  private static let grain: UInt64 = 100_000_000

  private let clock: Clock
  private let source: any DispatchSourceTimer
  /// Guarded by the timers' lock.
  private var isArmed = false

  init(_ clock: Clock, _ wake: @escaping @Sendable () -> Void) {
    self.clock = clock
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    source.setEventHandler { @Sendable in wake() }
    source.activate()
  }

  func arm(after nanoseconds: UInt64) {
    let wait = DispatchTimeInterval.nanoseconds(Int(clamping: nanoseconds))
    switch clock {
    case .uptime:
      source.schedule(deadline: .now() + wait, leeway: DispatchTimers.leeway(of: nanoseconds))
    case .wall where nanoseconds >= Self.grain:
      // Behind the other one, which usually comes first, and arms this again if anything is left to wait for.
      let late = DispatchTimeInterval.nanoseconds(Int(clamping: nanoseconds + Self.grain / 2))
      source.schedule(
        wallDeadline: .now() + late, leeway: .nanoseconds(Int(Self.grain / 2)))
      isArmed = true
    case .wall where isArmed:
      source.schedule(wallDeadline: .distantFuture)
      isArmed = false
    case .wall:
      break
    }
  }
}
