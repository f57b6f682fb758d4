// listing: repeat-retry
import Procedures
// end
import ProcedureTestSupport
import Testing

// listing: repeat-retry
struct Busy: Error {
  let retryAfter: Duration
}

/// Stands for a request to a server that is often busy.
nonisolated func request() -> ResultProcedure<String> {
  ResultProcedure {
    if Bool.random() { throw Busy(retryAfter: .seconds(1)) }
    return "answer"
  }
}
// end

// listing: repeat-repeat
/// Stands for a look at something that changes.
nonisolated func poll() -> Procedure { BlockProcedure { print("nothing new") } }
// end

// listing: repeat-statements
/// Stands for a queue of texts that is empty at some time.
nonisolated func nextText() -> String? { Bool.random() ? "to be" : nil }
// end

@Suite("Listings of the guide Repeat and retry", .hangLimit)
struct RepeatListings {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let requests = Counter()
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(scheduler: scheduler, clock: clock.clock)
  }

  /// In the place of the function at the head: busy twice.
  private func request() -> ResultProcedure<String> {
    ResultProcedure { [requests] in
      if requests.increment() < 3 { throw Busy(retryAfter: .seconds(1)) }
      return "answer"
    }
  }

  private func advance(_ seconds: Int) {
    scheduler.run()
    for _ in 0..<seconds {
      clock.advance(by: .seconds(1))
      scheduler.run()
    }
  }

  @Test("a retry tries again")
  func retry() throws {
    func ProcedureQueue() -> Procedures.ProcedureQueue { makeQueue() }
    // listing: repeat-retry
    let queue = ProcedureQueue()
    let answer = RetryProcedure(
      max: 5, wait: .exponential(period: .seconds(1), maximum: .seconds(30)).jittered(by: 0.5)
    ) {
      request()
    }
    queue.add(answer)
    // end
    advance(3)
    #expect(try answer.output?.get() == "answer" && answer.count == 3)
  }

  @Test("a handler decides about the next attempt")
  func handler() throws {
    let queue = makeQueue()
    // listing: repeat-handler
    let polite = RetryProcedure(max: 5, wait: .constant(.seconds(60))) {
      request()
    } retry: { failure, next in
      guard let busy = failure.errors.first as? Busy else { return nil }  // gives up
      var next = next
      next.delay = busy.retryAfter
      return next
    }
    queue.add(polite)
    // end
    advance(2)
    #expect(try polite.output?.get() == "answer")
  }

  @Test("a repeat goes on")
  func repetition() {
    let queue = makeQueue()
    let polls = Counter()
    @Sendable func poll() -> Procedure { BlockProcedure { polls.increment() } }
    // listing: repeat-repeat
    let polling = RepeatProcedure(wait: .constant(.seconds(60))) { poll() }
    queue.add(polling)
    // end
    advance(120)
    #expect(polls.value == 3)
    polling.cancel()
    scheduler.run()
    #expect(polling.isFinished)
  }

  @Test("Z5: a repeat has a fixed rate")
  func rate() {
    let queue = makeQueue()
    let polls = Counter()
    @Sendable func poll() -> Procedure { BlockProcedure { polls.increment() } }
    // listing: repeat-rate
    let sampling = RepeatProcedure(every: .milliseconds(50)) { poll() }
    queue.add(sampling)
    // end
    scheduler.run()
    for _ in 0..<4 {
      clock.advance(by: .milliseconds(50))
      scheduler.run()
    }
    #expect(polls.value == 5)
    sampling.cancel()
    scheduler.run()
  }

  @Test("a retry has a limit in time")
  func limit() {
    let queue = makeQueue()
    // listing: repeat-timeout
    let limited = RetryProcedure(wait: .fibonacci(period: .seconds(1))) {
      request().timeout(after: .seconds(5))
    }
    limited.timeout(after: .seconds(20))
    queue.add(limited)
    // end
    advance(1)
    #expect(limited.outcome == .succeeded)
    #expect(clock.pendingCount == 0)
  }

  @Test("a retry ends with the errors of its last attempts")
  func errors() async throws {
    let queue = ProcedureQueue()
    let output = Recorder<String>()
    func print(_ line: String) { output.note(line) }
    // listing: repeat-errors
    let twice = RetryProcedure(max: 2) { request() }
    do {
      print(try await queue.value(of: twice))
    } catch let error as Busy {
      print("try again in \(error.retryAfter)")
    }
    // end
    #expect(output.events == ["try again in 1.0 seconds"])
  }

  @Test("a closure of several statements makes the attempt")
  func statements() {
    let queue = makeQueue()
    let taken = Counter()
    @Sendable func nextText() -> String? { taken.increment() > 2 ? nil : "to be" }
    // listing: repeat-statements
    let texts = RepeatProcedure(max: 3) { () -> BlockProcedure? in
      guard let text = nextText() else { return nil }
      return BlockProcedure(name: "count \(text)") { print(text.split(separator: " ").count) }
    }
    queue.add(texts)
    // end
    scheduler.run()
    #expect(texts.count == 2 && texts.current?.name == "count to be")
  }
}
