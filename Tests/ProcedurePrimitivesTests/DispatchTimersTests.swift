import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct DispatchTimersTests {
  private final class Target: TimerTarget {
    let gate = Gate()
    let firedAt = Locked<ContinuousClock.Instant?>(nil)

    func timerFired() {
      firedAt.withLock { $0 = .now }
      gate.open()
    }
  }

  @Test("timers are never early, however their deadlines lie to each other")
  func neverEarly() async {
    let timers = DispatchTimers.shared
    let start = timers.now
    // Later ones first, so that the source is armed again and again.
    let deadlines = [9_000, 5_000, 5_100, 2_000, 1_999, 300, 1, 0].map {
      start.advanced(by: .microseconds($0))
    }
    let targets = deadlines.map { _ in Target() }
    for (target, deadline) in zip(targets, deadlines) {
      _ = timers.schedule(target, at: deadline)
    }
    for (target, deadline) in zip(targets, deadlines) {
      await target.gate.wait()
      #expect(target.firedAt.withLock { $0 }! >= deadline)
    }
  }

  @Test("a cancelled timer does not fire, is released, and is cancelled once")
  func cancel() async {
    let timers = DispatchTimers.shared
    weak var weakTarget: Target?
    do {
      let target = Target()
      weakTarget = target
      let key = timers.schedule(target, at: timers.now.advanced(by: .seconds(600)))
      #expect(timers.cancel(key))
      #expect(!timers.cancel(key))
    }
    #expect(weakTarget == nil)
    let later = Target()
    let key = timers.schedule(later, at: timers.now.advanced(by: .milliseconds(4)))
    await later.gate.wait()
    #expect(!timers.cancel(key))
  }

  @Test("work is delivered off the timer's own queue")
  func deliver() async {
    let (blocked, left, gate) = (Gate(), Gate(), Gate())
    DispatchTimers.shared.deliver {
      blocked.block()
      left.open()
    }
    DispatchTimers.shared.deliver { gate.open() }
    await gate.wait()
    #expect(!left.isOpen)
    blocked.open()
    await left.wait()
  }

  @Test("K10: a deadline that passes while the machine sleeps is marked when it wakes")
  func machineSleeps() {
    let clock = Locked(ContinuousClock.now)
    let alarms = [ManualAlarm(), ManualAlarm()]
    let timers = DispatchTimers(now: { clock.withLock { $0 } }) { wake in
      for alarm in alarms { alarm.handler.withLock { $0 = wake } }
      return alarms
    }
    let (tenSeconds, twoHours) = (Target(), Target())
    _ = timers.schedule(twoHours, at: timers.now.advanced(by: .seconds(7_200)))
    _ = timers.schedule(tenSeconds, at: timers.now.advanced(by: .seconds(10)))
    for alarm in alarms { #expect(alarm.wait <= .seconds(10.001)) }
    // One hour, of which only the continuous clock knows, and the alarm that goes by the wall
    // clock.
    clock.withLock { $0 += .seconds(3_600) }
    #expect(tenSeconds.firedAt.withLock { $0 } == nil)
    alarms[1].ring()
    #expect(tenSeconds.firedAt.withLock { $0 } != nil)
    #expect(twoHours.firedAt.withLock { $0 } == nil)
    // Both are armed for what is next, and what the other one has done is not done again.
    for alarm in alarms { #expect(alarm.wait <= .seconds(3_601)) }
    alarms[0].ring()
    #expect(twoHours.firedAt.withLock { $0 } == nil)
    clock.withLock { $0 += .seconds(3_601) }
    alarms[0].ring()
    #expect(twoHours.firedAt.withLock { $0 } != nil)
  }

  @Test(
    "K10: deadlines are marked by Dispatch's uptime and by its wall clock, each without the other")
  func bothAlarms() async {
    for isByWall in [false, true] {
      let timers = DispatchTimers(now: { .now }) { wake in
        [DispatchTimers.alarm(isByWall: isByWall, wake)]
      }
      let target = Target()
      let deadline = timers.now.advanced(by: .milliseconds(120))
      _ = timers.schedule(target, at: deadline)
      await target.gate.wait()
      #expect(target.firedAt.withLock { $0 }! >= deadline)
    }
  }

  /// Rings when the test says so.
  private final class ManualAlarm: TimerAlarm {
    let handler = Locked<(@Sendable () -> Void)?>(nil)
    private let armed = Locked(Duration.zero)

    var wait: Duration { armed.withLock { $0 } }
    func arm(after nanoseconds: UInt64) {
      armed.withLock { $0 = .nanoseconds(Int64(clamping: nanoseconds)) }
    }
    func ring() { handler.withLock { $0 }?() }
  }

  @Test("durations become nanoseconds: rounded, never negative, saturated")
  func durations() {
    #expect(Duration.nanoseconds(5).nanosecondsRoundedUp == 5)
    #expect((Duration.nanoseconds(5) / 2).nanosecondsRoundedUp == 3)
    #expect((Duration.nanoseconds(5) / 2).nanosecondsRoundedDown == 2)
    #expect(Duration.seconds(-1).nanosecondsRoundedUp == 0)
    #expect(Duration.nanoseconds(-1).nanosecondsRoundedDown == 0)
    let far = Duration.seconds(Int64.max)
    #expect(far.nanosecondsRoundedUp == far.nanosecondsRoundedDown)
    #expect(far.nanosecondsRoundedUp > Duration.seconds(4_000_000_000).nanosecondsRoundedUp)
  }
}
