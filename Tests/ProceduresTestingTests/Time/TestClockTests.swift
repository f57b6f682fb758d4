import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct TestClockTests {
  private let clock = TestClock()

  private func deadline(after duration: Duration) -> CancellationTokenSource {
    let source = CancellationTokenSource()
    source.cancel(after: duration, clock: clock.clock)
    return source
  }

  @Test("Z3: a test clock passes by as much as it is told, and does what falls due in order")
  func advanceBy() {
    let order = Recorder<String>()
    let (second, first) = (deadline(after: .seconds(2)), deadline(after: .seconds(1)))
    for (name, source) in [("second", second), ("first", first)] {
      source.token.onCancel { order.note(name) }
    }
    let start = clock.now
    #expect(clock.pendingCount == 2)
    clock.advance(by: .milliseconds(1999))
    #expect(order.events == ["first"] && clock.pendingCount == 1)
    clock.advance(by: .milliseconds(1))
    #expect(order.events == ["first", "second"])
    #expect(clock.now - start == .seconds(2))
  }

  @Test("Z3: time passes until an instant, and never goes back")
  func advanceTo() {
    let source = deadline(after: .seconds(5))
    let instant = clock.now.advanced(by: .seconds(5))
    clock.advance(to: instant)
    #expect(source.isCancelled && clock.now == instant)
    clock.advance(to: instant.advanced(by: .seconds(-1)))
    #expect(clock.now == instant)
  }

  @Test("Z3: a test clock passes until nothing is pending, not even a timer that is set on the way")
  func runUntilIdle() {
    let start = clock.now
    let first = deadline(after: .seconds(60))
    let later = CancellationTokenSource()
    first.token.onCancel { [clock] in later.cancel(after: .seconds(3600), clock: clock.clock) }
    clock.runUntilIdle()
    #expect(later.isCancelled && clock.pendingCount == 0)
    #expect(clock.now - start == .seconds(3660))
  }

  @Test("Z3: deadlines and instants may be on a queue's clock")
  func clockOfQueue() throws {
    try ProcedureSimulation(seed: 1).run { simulation in
      let queue = simulation.makeQueue()
      let source = CancellationTokenSource()
      source.cancel(after: .seconds(2), clock: queue.clock)
      let delay = DelayProcedure(until: queue.clock.now + .seconds(60))
      delay.cancel(when: source.token)
      queue.add(delay, DelayProcedure(until: queue.clock.now + .seconds(5)))
      try simulation.run()
      try simulation.expect(simulation.elapsed == .seconds(5), "\(simulation.elapsed)")
      try simulation.expect(delay.isCancelled, "\(delay)")
    }
  }
}
