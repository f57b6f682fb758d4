package import Dispatch

/// All pending deadlines of the process, on two Dispatch timer sources.
///
/// Scheduling arms the sources only if the new deadline is the earliest; cancelling never touches
/// them.
///
/// The continuous clock counts while the machine sleeps, and Dispatch's uptime does not. So there
/// are two sources: an exact one by uptime, and one by the wall clock, which is due as soon as a
/// machine that slept is awake. Both read the continuous clock when they fire, so neither is ever
/// early.
///
/// Unchecked because Dispatch's timer protocol is not `Sendable` on Linux, although its sources
/// are.
public final class DispatchTimers: TimerService, @unchecked Sendable {
  /// The timers of the continuous clock.
  public static let shared = DispatchTimers(
    now: { .now }, makeAlarms: { [alarm(isByWall: false, $0), alarm(isByWall: true, $0)] })

  /// About 33 microseconds. A Dispatch timer is late by as much anyway, and neighbours share a
  /// wake-up.
  private static let nanosecondsPerTick: UInt64 = 1 << 15

  private struct State: Sendable {
    var wheel = TimerWheel<any TimerTarget>(nanosecondsPerTick: nanosecondsPerTick)
    var armedFor = UInt64.max
  }

  private let state = Locked(State())
  private let readNow: @Sendable () -> ContinuousClock.Instant
  private let epoch: ContinuousClock.Instant
  private var alarms: [any TimerAlarm] = []

  /// Makes timers of another clock, for tests.
  package init(
    now: @escaping @Sendable () -> ContinuousClock.Instant,
    makeAlarms: (_ wake: @escaping @Sendable () -> Void) -> [any TimerAlarm]
  ) {
    readNow = now
    epoch = now()
    // The cycle is no leak, since there is only the shared instance. A weak reference would make
    // all of its reference counting slow.
    alarms = makeAlarms { self.wake() }
  }

  /// An alarm of Dispatch, by uptime or by the wall clock.
  package static func alarm(
    isByWall: Bool, _ wake: @escaping @Sendable () -> Void
  ) -> any TimerAlarm {
    DispatchAlarm(isByWall ? .wall : .uptime, wake)
  }

  /// How late a wait may end. A wait of a second does not need the microsecond, and the battery
  /// lasts longer.
  ///
  /// A thousandth of the wait, at most 50 ms; zero below a second.
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

  /// Runs `work` on a thread of Dispatch's pool, or on a spare thread.
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

  /// Called under the lock, so that two threads cannot arm in the wrong order. Dispatch only stores
  /// the time.
  private func arm(_ state: inout State) {
    guard let wake = state.wheel.nextWake, wake < state.armedFor else { return }
    state.armedFor = wake
    let elapsed = (now - epoch).nanosecondsRoundedDown
    let wait = wake > elapsed ? wake - elapsed : 0
    for alarm in alarms { alarm.arm(after: wait) }
  }
}

/// Wakes the timers once, after a given time.
package protocol TimerAlarm: AnyObject, Sendable {
  /// Replaces the time set before. Called under a lock, so it must not wake the timers
  /// synchronously.
  func arm(after nanoseconds: UInt64)
}

/// A Dispatch timer source.
///
/// Unchecked for the same reason as `DispatchTimers`.
private final class DispatchAlarm: TimerAlarm, @unchecked Sendable {
  enum Clock {
    /// Stops while the machine sleeps.
    case uptime
    /// May be set.
    case wall
  }

  /// A queue of a quality that hardly anything else uses: it marks deadlines even while all threads
  /// of the global queues, and of hundreds of queues of the default quality, are blocked.
  private static let queue = DispatchQueue(label: "procedures.timers", qos: .userInteractive)

  /// A machine that has slept may notice this much later that a deadline has passed. A shorter wait
  /// needs no second source.
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
      // Later than the uptime alarm, which usually fires first, and arms this again if deadlines
      // are left.
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
