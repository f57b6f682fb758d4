import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// How asynchronous closures spent their time. The test runs each step itself, and sets the clock.
@Suite(.hangLimit) struct BodyTimeTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let timeline = ProcedureTimeline()
  private let queue: ProcedureQueue

  init() {
    queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    timeline.record(queue)
  }

  /// In seconds: busy, scheduled, idle.
  private func times(_ name: String) -> [Double]? {
    timeline.snapshot().entry(named: name)?.body.map {
      [$0.busy, $0.scheduled, $0.idle].map { $0 / .seconds(1) }
    }
  }

  @Test("V1: an asynchronous closure was busy, scheduled and idle, to the nanosecond")
  func parts() throws {
    let body = AsyncProcedure(name: "body") { [clock, queue] in
      clock.advance(by: .seconds(1))
      try await queue.clock.sleep(for: .seconds(5))
      clock.advance(by: .seconds(2))
      await Task.yield()
      clock.advance(by: .seconds(3))
    }
    queue.add(body)
    scheduler.run()
    #expect(times("body") == [1, 0, 0])
    clock.advance(by: .seconds(4))
    #expect(times("body") == [1, 0, 4])
    // The sleep is over, and no thread comes for seven seconds; then, after the yield, for half a
    // second.
    clock.advance(by: .seconds(1))
    clock.advance(by: .seconds(7))
    #expect(times("body") == [1, 7, 5])
    scheduler.runOne()
    clock.advance(by: .milliseconds(500))
    scheduler.run()
    #expect(body.isFinished)
    #expect(times("body") == [6, 7.5, 5])
    // What comes after does not count.
    clock.advance(by: .seconds(100))
    #expect(times("body") == [6, 7.5, 5])
    let snapshot = timeline.snapshot()
    #expect(snapshot.entry(named: "body")?.duration == .milliseconds(18_500))
    let trace = snapshot.chromeTrace()
    #expect(
      trace.contains(
        #""busy_ms":6000.000000,"scheduled_ms":7500.000000,"idle_ms":5000.000000,"waited""#))
    let spans = snapshot.otlpRequests(service: "shop")[0]
    #expect(spans.contains(#"{"key":"procedure.idle_ns","value":{"intValue":"5000000000"}}"#))
    #expect(snapshot.summary.contains("18.5 s body, 27 % idle\n"))
    #expect(snapshot.verdict.contains("(longest: 'body', 18.5 s, 27 % idle)"))
    #expect(snapshot.during(.seconds(1) ..< .seconds(3)).entry(named: "body")?.body == nil)
    #expect(snapshot.during(.zero ..< .seconds(30)).entry(named: "body")?.body != nil)
  }

  @Test("V1: with child tasks at once the parts add up, too")
  func children() throws {
    let body = AsyncProcedure(name: "body") { [clock, queue] in
      async let first: Void = queue.clock.sleep(for: .seconds(5))
      async let second: Void = queue.clock.sleep(for: .seconds(3))
      clock.advance(by: .seconds(1))
      _ = try await (first, second)
    }
    queue.add(body)
    for _ in 0..<20 {
      scheduler.run()
      clock.advance(by: .seconds(1))
    }
    #expect(body.isFinished)
    let parts = try #require(times("body"))
    let duration = try #require(timeline.snapshot().entry(named: "body")?.duration)
    #expect(parts.reduce(0, +) == duration / .seconds(1))
    #expect(parts[0] == 1 && parts[2] >= 4)
  }

  @Test("V1: a finish that is held back is no part of a closure's time")
  func held() throws {
    let body = AsyncProcedure(name: "body") { [clock] in clock.advance(by: .seconds(1)) }
    let kept = Recorder<PendingEvent>()
    body.addWillFinishBlockObserver { _, _, pendingFinish in kept.note(pendingFinish) }
    queue.add(body)
    scheduler.run()
    clock.advance(by: .seconds(5))
    #expect(times("body") == [1, 0, 0])
    clock.advance(by: .seconds(5))
    kept.events.first?.release()
    scheduler.run()
    #expect(body.isFinished && times("body") == [1, 0, 0])
  }

  @Test(
    "V1: no body times are recorded of other procedures, nor of a closure that began earlier")
  func others() throws {
    let late = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    let begun = AsyncProcedure(name: "begun") { try await late.clock.sleep(for: .seconds(9)) }
    let failing = AsyncProcedure(name: "failing") { [clock] in
      clock.advance(by: .seconds(2))
      throw TestError("no")
    }
    late.add(begun)
    queue.add(BlockProcedure {}.named("block"), failing)
    let never = AsyncProcedure(name: "never") {}
    queue.add(never)
    never.cancel()
    scheduler.run()
    timeline.record(late)
    clock.advance(by: .seconds(9))
    scheduler.run()
    #expect(begun.isFinished && failing.isFinished && never.isFinished)
    for name in ["block", "begun", "never"] {
      #expect(timeline.snapshot().entry(named: name) != nil, "\(name)")
      #expect(times(name) == nil, "\(name)")
    }
    #expect(times("failing") == [2, 0, 0])
  }

  @Test("V1: a cancel is no part of a closure's time, and nothing is known on the main actor")
  @MainActor func elsewhere() async throws {
    let (queue, timeline) = (ProcedureQueue(), ProcedureTimeline())
    timeline.record(queue)
    queue.add(MainActorProcedure {}.named("main"))
    let sleeps = AsyncProcedure(name: "sleeps") { @concurrent in
      try await Task.sleep(for: .seconds(600))
    }
    queue.add(sleeps)
    #expect(
      await eventually {
        timeline.entries.first { $0.name == "sleeps" }?.body.map { $0.idle > .zero } == true
      })
    sleeps.cancel()
    await queue.waitUntilAllFinished()
    let snapshot = timeline.snapshot()
    #expect(snapshot.entry(named: "main")?.body == nil)
    let entry = try #require(snapshot.entry(named: "sleeps"))
    let (body, duration) = (try #require(entry.body), try #require(entry.duration))
    #expect(body.busy > .zero && body.idle > .zero)
    #expect(body.busy + body.scheduled + body.idle <= duration)
  }
}
