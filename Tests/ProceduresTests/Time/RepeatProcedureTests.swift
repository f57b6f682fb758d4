import Dispatch
import ProcedurePrimitives
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct RepeatProcedureTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(scheduler: scheduler, clock: clock.clock)
  }

  /// Notes when it executes.
  private final class Attempt: Procedure, InputProcedure, OutputProcedure, @unchecked Sendable {
    typealias Input = Int
    typealias Output = Int
    let number: Int
    private let times: Recorder<ContinuousClock.Instant>
    private let now: @Sendable () -> ContinuousClock.Instant

    init(_ times: Recorder<ContinuousClock.Instant>, _ clock: TestClock) {
      self.times = times
      number = times.events.count + 1
      now = { clock.now }
      super.init()
    }

    override func execute() {
      times.note(now())
      finish(withResult: .success(number * (input ?? 1)))
    }
  }

  private func seconds(_ times: Recorder<ContinuousClock.Instant>) -> [Int] {
    let events = times.events
    return zip(events, events.dropFirst()).map { Int(($1 - $0).components.seconds) }
  }

  private func advance(_ seconds: Int) {
    for _ in 0..<seconds {
      clock.advance(by: .seconds(1))
      scheduler.run()
    }
  }

  @Test("Z4: the first interval stands before the second attempt; max is how many there are")
  func intervals() {
    let times = Recorder<ContinuousClock.Instant>()
    let procedure = RepeatProcedure(
      max: 4, wait: .incrementing(initial: .seconds(1), increment: .seconds(2))
    ) { [clock] in Attempt(times, clock) }
    makeQueue().add(procedure)
    #expect(procedure.count == 0)
    scheduler.run()
    #expect(procedure.count == 2 && times.events.count == 1)
    advance(20)
    #expect(procedure.outcome == .succeeded)
    #expect(procedure.count == 4)
    #expect(seconds(times) == [1, 3, 5])
    #expect(procedure.current?.number == 4 && procedure.previous?.number == 3)
    #expect(clock.pendingCount == 0)
  }

  @Test("Z4: a repeat with a max of zero or less makes nothing, and with 1 one attempt")
  func limits() {
    for (max, count) in [(-1, 0), (0, 0), (1, 1)] {
      let made = Counter()
      let procedure = RepeatProcedure(max: max) {
        made.increment()
        return BlockProcedure {}
      }
      makeQueue().add(procedure)
      scheduler.run()
      #expect(made.value == count && procedure.count == count && procedure.isFinished)
    }
  }

  @Test("Z4: the next attempt starts after the one before finished, with its observers")
  func order() {
    let trace = Recorder<String>()
    let made = Counter()
    let procedure = RepeatProcedure(max: 3) {
      let attempt = TracedProcedure("\(made.increment())", trace: trace)
      attempt.addDidFinishBlockObserver { attempt, _ in trace.note("\(attempt.name) told") }
      return attempt
    }
    procedure.addDidFinishBlockObserver { _, _ in trace.note("repeat told") }
    makeQueue().add(procedure)
    scheduler.run()
    let events = trace.events.filter { $0.hasSuffix("execute") || $0.hasSuffix("told") }
    #expect(
      events == [
        "1 execute", "1 told", "2 execute", "2 told", "3 execute", "3 told", "repeat told",
      ])
  }

  /// How an attempt ends, and with the last of them the whole.
  private enum End: String, CaseIterable {
    case success, failure, cancelled, cancelledWithError

    func make(_ number: Int) -> Procedure {
      switch self {
      case .success: return BlockProcedure {}
      case .failure: return BlockProcedure { throw TestError("\(number)") }
      case .cancelled: return BlockProcedure { $0.cancel() }
      case .cancelledWithError:
        return BlockProcedure { $0.cancel(withError: TestError("\(number)")) }
      }
    }
  }

  @Test("E2: a repeat goes on whatever an attempt ends with, and ends with the errors of the last")
  func failures() {
    for first in End.allCases {
      for second in End.allCases {
        for last in End.allCases {
          let queue = makeQueue()
          let made = Counter()
          let procedure = RepeatProcedure(max: 3) {
            let number = made.increment()
            return [first, second, last][number - 1].make(number)
          }
          queue.add(procedure)
          scheduler.run()
          let fails = last == .failure || last == .cancelledWithError
          #expect(procedure.count == 3)
          #expect(procedure.outcome == (fails ? .failed([TestError("3")]) : .succeeded))
        }
      }
    }
  }

  @Test("G6: a repeat with cancelRemaining ends with its first failure, and makes no more")
  func failurePolicy() {
    let queue = makeQueue()
    let made = Counter()
    let procedure = RepeatProcedure {
      BlockProcedure { if made.increment() == 3 { throw TestError("3") } }
    }
    procedure.failurePolicy = .cancelRemaining
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.outcome == .failed([TestError("3")]))
    #expect(made.value == 3 && procedure.count == 4)
  }

  @Test("a repeat ends when the closure returns nil, and when the wait strategy does")
  func ends() {
    let made = Counter()
    let byBody = RepeatProcedure { made.increment() > 5 ? nil : BlockProcedure {} }
    let intervals = [Duration.seconds(1), .seconds(1)]
    let byWait = RepeatProcedure(wait: .iterator(intervals.makeIterator())) { BlockProcedure {} }
    makeQueue().add(byBody, byWait)
    scheduler.run()
    advance(5)
    #expect(byBody.count == 5 && byBody.isFinished && byWait.count == 3 && byWait.isFinished)
  }

  @Test("Z4: an iterator gives each attempt, the first too, its own delay and configuration")
  func payloads() {
    let times = Recorder<ContinuousClock.Instant>()
    let configured = Counter()
    let payloads = (0..<3).map { index in
      RepeatProcedurePayload(procedure: Attempt(times, clock), delay: .seconds(index * 2)) { _ in
        configured.increment()
      }
    }
    let procedure = RepeatProcedure<Attempt>(
      wait: .constant(.seconds(9)), iterator: payloads.makeIterator())
    makeQueue().add(procedure)
    scheduler.run()
    advance(10)
    #expect(procedure.isFinished && seconds(times) == [2, 4] && configured.value == 3)
  }

  @Test("a repeat that is cancelled while it waits, or attempts, makes no more and ends at once")
  func cancelled() {
    let queue = makeQueue()
    let waiting = RepeatProcedure(wait: .constant(.seconds(5))) { TracedProcedure() }
    let attempting = RepeatProcedure { TracedProcedure(end: .whenToldOrCancelled) }
    queue.add(waiting, attempting)
    scheduler.run()
    for procedure in [waiting, attempting] { procedure.cancel() }
    scheduler.run()
    #expect(waiting.outcome == .cancelled([]))
    #expect(waiting.count == 2)
    #expect(attempting.outcome == .cancelled([]))
    #expect(attempting.count == 1)
    #expect(clock.pendingCount == 0 && queue.count == 0)
  }

  @Test("R1: each attempt gets the input; the output comes from the last attempt that had one")
  func values() {
    let queue = makeQueue()
    let times = Recorder<ContinuousClock.Instant>()
    let procedure = RepeatProcedure(max: 3) { [clock] in Attempt(times, clock) }
    procedure.injectResult(from: ResultProcedure { 10 }.onto(queue))
    let after = IdentityProcedure<Int>().injectResult(from: procedure)
    queue.add(procedure, after)
    scheduler.run()
    #expect(after.input == 30)
  }

  @Test("F4: finished attempts are released, and the closure when the repeat has finished")
  func memory() {
    let queue = makeQueue()
    let (live, closure) = (Counter(), Counter())
    final class Tracked: Procedure, @unchecked Sendable {
      let live: Counter
      init(_ live: Counter) {
        self.live = live
        live.increment()
      }
      override func execute() { finish() }
      deinit { live.decrement() }
    }
    let procedure: RepeatProcedure<Tracked>
    do {
      let tracker = Tracker { closure.increment() }
      procedure = RepeatProcedure(max: 3_000) {
        withExtendedLifetime(tracker) {}
        return Tracked(live)
      }
    }
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.count == 3_000 && procedure.isFinished && procedure.children.isEmpty)
    #expect(live.highest <= 4 && live.value == 2 && closure.value == 1)
  }

  @Test("Z4: a repeat that is cancelled against its attempts ends, and leaves nothing")
  func cancelAgainstAttempts() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let live = Counter()
      let procedure = RepeatProcedure {
        let attempt = TracedProcedure()
        live.increment()
        attempt.addDidFinishBlockObserver { _, _ in live.decrement() }
        return attempt
      }
      let started = DispatchSemaphore(value: 0)
      procedure.addDidExecuteBlockObserver { _ in started.signal() }
      // Not by a task: where the pool is busy it would repeat until that has its turn.
      await onThreadOfItsOwn {
        queue.add(procedure)
        started.wait()
        procedure.cancel()
      }
      #expect(await procedure.waitUntilFinished() == .cancelled([]))
      #expect(live.value == 0)
    }
  }
}

extension Procedure {
  fileprivate func onto(_ queue: ProcedureQueue) -> Self {
    queue.add(self)
    return self
  }
}
