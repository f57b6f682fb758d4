import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct TimerWheelTests {
  @Test(
    "a timer is due at its deadline rounded up to a tick, never before", arguments: [1, 1 << 18])
  func neverEarly(tick: UInt64) {
    for deadline in [1, tick - 1, tick, tick + 1, 64 * tick, 4_096 * tick + 1] as [UInt64] {
      var wheel = TimerWheel<UInt64>(nanosecondsPerTick: tick)
      _ = wheel.schedule(deadline, at: deadline)
      if deadline > 0 { #expect(wheel.advance(to: deadline - 1).isEmpty) }
      let rounded = (deadline + tick - 1) / tick * tick
      #expect(wheel.advance(to: rounded) == [deadline])
      #expect(wheel.count == 0 && wheel.nextWake == nil)
    }
  }

  @Test("due timers come out by deadline, equal ones in order of scheduling")
  func order() {
    var wheel = TimerWheel<Int>(nanosecondsPerTick: 1_000)
    let deadlines: [UInt64] = [900, 100, 500, 100, 70_000, 5_000_000, 1]
    for (index, deadline) in deadlines.enumerated() { _ = wheel.schedule(index, at: deadline) }
    #expect(wheel.advance(to: 10_000_000) == [6, 1, 3, 2, 0, 4, 5])
  }

  @Test("a cancelled timer is not due; a key is good once")
  func cancel() {
    var wheel = TimerWheel<Int>(nanosecondsPerTick: 1)
    let keys = (0..<3).map { wheel.schedule($0, at: 10) }
    #expect(wheel.cancel(keys[1]) == 1)
    #expect(wheel.cancel(keys[1]) == nil)
    #expect(wheel.advance(to: 10) == [0, 2])
    #expect(wheel.cancel(keys[0]) == nil)
  }

  @Test("a deadline in the past is due at once, one at the end of time never")
  func bounds() {
    var wheel = TimerWheel<Int>(nanosecondsPerTick: 1 << 18)
    wheel.skip(to: 1 << 40)
    _ = wheel.schedule(1, at: 0)
    _ = wheel.schedule(2, at: .max)
    #expect(wheel.advance(to: 1 << 40) == [1])
    #expect(wheel.advance(to: 1 << 62).isEmpty)
    #expect(wheel.nextWake != nil && wheel.count == 1)
  }

  /// Follows `nextWake` as a clock would, and compares with a sorted list.
  @Test("random schedules, cancels and advances agree with a sorted list")
  func againstSortedList() {
    for seed in 0..<(Rounds.isStress ? 400 : 40) as Range<UInt64> {
      var random = SimulationGenerator(seed: seed)
      let tick: UInt64 = seed % 2 == 0 ? 1 : 1 << 10
      var wheel = TimerWheel<Int>(nanosecondsPerTick: tick)
      var pending: [(key: SlabKey, due: UInt64, deadline: UInt64, id: Int)] = []
      var now: UInt64 = 0
      for id in 0..<600 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6:
          let span = UInt64(1) << UInt64.random(in: 0..<40, using: &random)
          let deadline = now + UInt64.random(in: 0..<span, using: &random)
          let due = max((deadline + tick - 1) / tick, now / tick) * tick
          pending.append((wheel.schedule(id, at: deadline), due, deadline, id))
        case 6..<8:
          guard let index = pending.indices.randomElement(using: &random) else { continue }
          let timer = pending.remove(at: index)
          #expect(wheel.cancel(timer.key) == timer.id)
        default:
          if let wake = wheel.nextWake, let earliest = pending.map(\.due).min() {
            #expect(wake <= max(earliest, now))
          }
          let step = UInt64.random(in: 0..<(1 << 30), using: &random)
          now = Bool.random(using: &random) ? max(now, wheel.nextWake ?? now) : now + step
          // Stable, as the keys' order is that of scheduling.
          let due = pending.filter { $0.due <= now }
            .sorted { ($0.deadline, $0.key.serial) < ($1.deadline, $1.key.serial) }
          pending.removeAll { $0.due <= now }
          #expect(wheel.advance(to: now) == due.map(\.id))
        }
        #expect(wheel.count == pending.count)
      }
      #expect(Set(wheel.advance(to: .max / 2)) == Set(pending.map(\.id)))
    }
  }
}
