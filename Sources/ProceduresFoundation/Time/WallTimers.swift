internal import Dispatch
internal import Foundation
internal import ProcedurePrimitives

/// Wakes its targets by the wall clock: setting the clock moves their deadlines.
///
/// An instant of this clock is the time since 1970 added to one instant of the continuous clock,
/// which stands for 1970. So every function that takes a deadline can take one of this clock.
final class WallTimers: TimerService {
  /// The wall clock of the machine, on one Dispatch timer that follows it.
  static let shared = WallTimers(alarm: DispatchAlarm())

  private struct State: Sendable {
    var deadlines = WallDeadlines()
    var armedFor: Duration?
  }

  private let state = Locked(State())
  private let alarm: any WallAlarm
  private let epoch = ContinuousClock.now

  init(alarm: any WallAlarm) {
    self.alarm = alarm
    // The cycle is no leak, since there are only the shared instance and those of tests.
    alarm.handler = { self.wake() }
  }

  var now: ContinuousClock.Instant { epoch.saturatingAdvanced(by: alarm.now) }

  func instant(of date: Date) -> ContinuousClock.Instant {
    epoch.saturatingAdvanced(by: Duration(saturating: date.timeIntervalSince1970))
  }

  /// The instant, provided that the wall clock is not set until then.
  func continuousInstant(of deadline: ContinuousClock.Instant) -> ContinuousClock.Instant {
    ContinuousClock.now.saturatingAdvanced(by: now.duration(to: deadline))
  }

  func schedule(_ target: any TimerTarget, at deadline: ContinuousClock.Instant) -> SlabKey {
    let deadline = epoch.duration(to: deadline)
    return state.withLock { state in
      let key = state.deadlines.insert(target, at: deadline)
      arm(&state)
      return key
    }
  }

  /// Never touches the alarm.
  func cancel(_ key: SlabKey) -> Bool {
    // The target is released by the caller's frame, after the lock.
    let target = state.withLock { $0.deadlines.remove(key) }
    return target != nil
  }

  func deliver(_ work: @escaping @Sendable () -> Void) {
    WorkLine.shared(.default).submit(work)
  }

  private func wake() {
    let now = alarm.now
    let due = state.withLock { state in
      state.armedFor = nil
      let due = state.deadlines.takeDue(at: now)
      arm(&state)
      return due
    }
    for target in due { target.timerFired() }
  }

  /// Called under the lock, so that two threads cannot arm in the wrong order. The alarm only
  /// stores the time.
  private func arm(_ state: inout State) {
    guard let first = state.deadlines.first, state.armedFor.map({ first < $0 }) ?? true else {
      return
    }
    state.armedFor = first
    alarm.set(for: first)
  }
}

/// A wall clock that calls a handler at a given time.
protocol WallAlarm: AnyObject, Sendable {
  /// Called at or after the time that the alarm was last set for, even if the clock is set to it.
  var handler: (@Sendable () -> Void)? { get set }

  /// The time since 1970.
  var now: Duration { get }

  /// Calls the handler when the clock shows `time`, and not at the time set before.
  func set(for time: Duration)
}

/// Dispatch's timer for wall time: an absolute time of the system's real-time clock.
///
/// Unchecked because of the handler, which is set once, before the alarm is.
private final class DispatchAlarm: WallAlarm, @unchecked Sendable {
  /// Like `DispatchTimers`' queue, it marks deadlines even while all global queues are blocked.
  private static let queue = DispatchQueue(label: "procedures.wall-timers", qos: .userInteractive)

  var handler: (@Sendable () -> Void)?
  private let source: any DispatchSourceTimer

  init() {
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    source.setEventHandler { @Sendable in self.handler?() }
    source.activate()
  }

  var now: Duration { Duration(saturating: Date().timeIntervalSince1970) }

  func set(for time: Duration) {
    // The time is absolute by the wall clock, though it is computed from now. A time that is
    // centuries away never comes.
    let wait = time.saturatingSubtracting(now).nanosecondsRoundedUp
    let soonest = DispatchWallTime.now() + .nanoseconds(Int(clamping: wait))
    source.schedule(wallDeadline: soonest, leeway: DispatchTimers.leeway(of: wait))
  }
}
