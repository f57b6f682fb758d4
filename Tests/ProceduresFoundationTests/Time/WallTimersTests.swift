import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import ProceduresFoundation

/// A wall clock that the test sets.
private final class ManualAlarm: WallAlarm, @unchecked Sendable {
  private struct State: Sendable {
    var handler: (@Sendable () -> Void)?
    var now = Duration.seconds(1_000_000)
    var time: Duration?
  }

  private let state = Locked(State())

  var handler: (@Sendable () -> Void)? {
    get { state.withLock { $0.handler } }
    set { state.withLock { $0.handler = newValue } }
  }

  var now: Duration { state.withLock { $0.now } }
  var time: Duration? { state.withLock { $0.time } }

  func set(for time: Duration) { state.withLock { $0.time = time } }

  /// Sets the clock, forwards or back, and rings if that is due.
  func set(to now: Duration) {
    let handler: (@Sendable () -> Void)? = state.withLock { state in
      state.now = now
      guard let time = state.time, time <= now else { return nil }
      state.time = nil
      return state.handler
    }
    handler?()
  }

  /// Wakes though it is not time: a timer of the system may.
  func ringEarly() { handler?() }
}

private final class Target: TimerTarget {
  private let fire: @Sendable () -> Void

  init(_ fire: @escaping @Sendable () -> Void) { self.fire = fire }

  func timerFired() { fire() }
}

@Suite(.hangLimit) struct WallTimersTests {
  private let alarm = ManualAlarm()
  private let fired = Recorder<Int>()

  private func date(_ seconds: TimeInterval) -> Date {
    Date(timeIntervalSince1970: 1_000_000 + seconds)
  }

  private func set(_ seconds: Int64) { alarm.set(to: .seconds(1_000_000 + seconds)) }

  @Test("I3: deadlines come in order, each at its time, and none early")
  func order() {
    let timers = WallTimers(alarm: alarm)
    for seconds in [30, 10, 20, 10] {
      _ = timers.schedule(
        Target { fired.note(seconds) }, at: timers.instant(of: date(TimeInterval(seconds))))
    }
    set(9)
    alarm.ringEarly()
    #expect(fired.events.isEmpty)
    set(10)
    #expect(fired.events == [10, 10])
    set(40)
    #expect(fired.events == [10, 10, 20, 30])
  }

  @Test("I3: a deadline moves with the wall clock when that is set, forwards and back")
  func setClock() {
    let timers = WallTimers(alarm: alarm)
    _ = timers.schedule(Target { fired.note(1) }, at: timers.instant(of: date(3600)))
    set(-7200)
    #expect(fired.events.isEmpty)
    _ = timers.schedule(Target { fired.note(2) }, at: timers.instant(of: date(-7100)))
    set(-7100)
    #expect(fired.events == [2])
    set(3599)
    #expect(fired.events == [2])
    set(86_400)
    #expect(fired.events == [2, 1])
  }

  @Test(
    "I3: a cancelled deadline is forgotten, an earlier one sets the alarm again, distant ones wait")
  func cancelling() {
    let timers = WallTimers(alarm: alarm)
    let keys = [50, 20, 70].map { seconds in
      timers.schedule(Target { fired.note(seconds) }, at: timers.instant(of: date(Double(seconds))))
    }
    #expect(alarm.time == .seconds(1_000_020))
    #expect(timers.cancel(keys[1]) && !timers.cancel(keys[1]))
    _ = timers.schedule(Target { fired.note(0) }, at: timers.instant(of: .distantFuture))
    _ = timers.schedule(Target { fired.note(5) }, at: timers.instant(of: date(5)))
    #expect(alarm.time == .seconds(1_000_005))
    set(1000)
    #expect(fired.events == [5, 50, 70])
    #expect(!timers.cancel(keys[0]))
  }

  @Test("I3: a heap of random deadlines gives them back in order, whatever is taken out")
  func randomHeap() {
    var generator = SimulationGenerator(seed: 1)
    for _ in 0..<50 {
      var deadlines = WallDeadlines()
      var expected: [(Int64, SlabKey)] = []
      for _ in 0..<200 {
        let seconds = Int64.random(in: 0..<50, using: &generator)
        let target = Target { fired.note(Int(seconds)) }
        expected.append((seconds, deadlines.insert(target, at: .seconds(seconds))))
        if Int.random(in: 0..<3, using: &generator) == 0 {
          let index = expected.indices.randomElement(using: &generator)!
          #expect(deadlines.remove(expected.remove(at: index).1) != nil)
        }
      }
      let before = fired.events.count
      for target in deadlines.takeDue(at: .seconds(25)) { target.timerFired() }
      for target in deadlines.takeDue(at: .seconds(100)) { target.timerFired() }
      #expect(fired.events[before...].elementsEqual(expected.map { Int($0.0) }.sorted()))
      #expect(deadlines.count == 0)
    }
  }
}
