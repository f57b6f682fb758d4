import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct DelayProcedureTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(scheduler: scheduler, clock: clock.clock)
  }

  @Test("Z1: a delay counts from execute, and never ends early")
  func countsFromExecute() {
    let delay = DelayProcedure(by: .seconds(1))
    let queue = makeQueue()
    queue.isSuspended = true
    queue.add(delay)
    clock.advance(by: .seconds(10))
    queue.isSuspended = false
    scheduler.run()
    clock.advance(by: .seconds(1) - .nanoseconds(1))
    scheduler.run()
    #expect(delay.isExecuting)
    clock.advance(by: .nanoseconds(1))
    scheduler.run()
    #expect(delay.outcome == .succeeded)
  }

  @Test("Z1: a delay of zero or less, or until an instant in the past, finishes at once")
  func atOnce() {
    let delays = [
      DelayProcedure(by: .zero), DelayProcedure(by: .seconds(-1)),
      DelayProcedure(until: clock.now.advanced(by: .seconds(-5))),
    ]
    makeQueue().add(delays)
    scheduler.run()
    #expect(delays.allSatisfy { $0.isFinished } && clock.pendingCount == 0)
  }

  @Test("Z1: a delay may last until an instant")
  func untilAnInstant() {
    let delay = DelayProcedure(until: clock.now.advanced(by: .seconds(3)))
    makeQueue().add(delay)
    scheduler.run()
    clock.advance(by: .seconds(2))
    scheduler.run()
    #expect(delay.isExecuting)
    clock.advance(by: .seconds(1))
    scheduler.run()
    #expect(delay.isFinished)
  }

  @Test("Z1: a cancelled delay finishes at once, and leaves no timer")
  func cancelled() {
    let delay = DelayProcedure(by: .seconds(1_000))
    makeQueue().add(delay)
    scheduler.run()
    #expect(clock.pendingCount == 1)
    delay.cancel()
    scheduler.run()
    #expect(delay.outcome == .cancelled([]))
    #expect(clock.pendingCount == 0)
  }

  @Test("Z1: a subclass that overrides procedureDidCancel without super still ends when cancelled")
  func overriddenWithoutSuper() {
    final class Pause: DelayProcedure, @unchecked Sendable {
      override func procedureDidCancel(withErrors errors: [any Error]) {}
    }
    let pause = Pause(by: .seconds(5))
    makeQueue().add(pause)
    scheduler.run()
    pause.cancel()
    scheduler.run()
    #expect(pause.isFinished)
  }

  @Test("Z1: on the real clock a delay is never early")
  func realClock() async {
    let queue = ProcedureQueue()
    for milliseconds in [0.5, 1, 3] {
      let start = ContinuousClock.now
      _ = await queue.run(DelayProcedure(by: .milliseconds(milliseconds)))
      #expect(ContinuousClock.now - start >= .milliseconds(milliseconds))
    }
  }

  @Test("Z2: a timeout counts from willExecute and cancels with timedOut")
  func timeout() {
    let procedure = TracedProcedure(end: .whenToldOrCancelled)
    procedure.add(observer: TimeoutObserver(by: .seconds(2)))
    let queue = makeQueue()
    queue.isSuspended = true
    queue.add(procedure)
    clock.advance(by: .seconds(60))
    queue.isSuspended = false
    scheduler.run()
    clock.advance(by: .seconds(1))
    #expect(!procedure.isCancelled)
    clock.advance(by: .seconds(1))
    scheduler.run()
    let error = procedure.errors.first as? ProcedureError
    #expect(error?.code == .timedOut && error?.duration == .seconds(2))
    #expect(procedure.isFinished)
  }

  @Test("Z2: a timeout of zero or less cancels at once; a finish in time leaves no timer")
  func timeoutEdges() {
    let trace = Recorder<String>()
    let hopeless = TracedProcedure(trace: trace)
    hopeless.add(observer: TimeoutObserver(by: .zero))
    let quick = TracedProcedure()
    quick.add(observer: TimeoutObserver(by: .seconds(1)))
    makeQueue().add(hopeless, quick)
    scheduler.run()
    #expect(hopeless.isCancelled && hopeless.isFinished && !trace.events.contains("p execute"))
    #expect(quick.outcome == .succeeded)
    #expect(clock.pendingCount == 0)
  }

  @Test("Z3: 4,000 delays on one clock end in order of deadline")
  func manyDelays() {
    let order = Recorder<Int>()
    let group = GroupProcedure()
    for index in 0..<4_000 {
      let milliseconds = (index * 7_919) % 10_007
      let delay = DelayProcedure(by: .milliseconds(milliseconds))
      delay.addDidFinishBlockObserver { _, _ in order.note(milliseconds) }
      group.add(child: delay)
    }
    makeQueue().add(group)
    scheduler.run()
    #expect(clock.pendingCount >= 3_999)
    for _ in 0..<11 {
      clock.advance(by: .seconds(1))
      scheduler.run()
    }
    #expect(order.events.count == 4_000 && group.isFinished)
    #expect(order.events == order.events.sorted())
  }
}
