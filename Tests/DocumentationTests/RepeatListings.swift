import Procedures
import ProcedureTestSupport
import Testing

/// Stands for a server that is busy at first.
private struct Busy: Error {
  let retryAfter: Duration
}

@Suite("Listings of the guide Repeat and retry")
struct RepeatListings {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let requests = Counter()
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(scheduler: scheduler, clock: clock.clock)
  }

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

  @Test("retry")
  func retry() throws {
    let queue = makeQueue()
    // listing: repeat-retry
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

  @Test("a handler")
  func handler() throws {
    let queue = makeQueue()
    // listing: repeat-handler
    let answer = RetryProcedure(max: 5, wait: .constant(.seconds(60))) {
      request()
    } retry: { failure, next in
      guard let busy = failure.errors.first as? Busy else { return nil }  // gives up
      var next = next
      next.delay = busy.retryAfter
      return next
    }
    queue.add(answer)
    // end
    advance(2)
    #expect(try answer.output?.get() == "answer")
  }

  @Test("repeat")
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

  @Test("a limit in time")
  func limit() {
    let queue = makeQueue()
    // listing: repeat-timeout
    let answer = RetryProcedure(wait: .fibonacci(period: .seconds(1))) {
      request().timeout(after: .seconds(5))
    }
    answer.timeout(after: .seconds(20))
    queue.add(answer)
    // end
    advance(1)
    #expect(answer.outcome == .succeeded)
    #expect(clock.pendingCount == 0)
  }

  @Test("its errors")
  func errors() async throws {
    let queue = ProcedureQueue()
    let output = Recorder<String>()
    func print(_ line: String) { output.note(line) }
    // listing: repeat-errors
    let answer = RetryProcedure(max: 2) { request() }
    do {
      print(try await queue.value(of: answer))
    } catch let error as Busy {
      print("try again in \(error.retryAfter)")
    }
    // end
    #expect(output.events == ["try again in 1.0 seconds"])
  }

  @Test("several statements")
  func statements() {
    let queue = makeQueue()
    let texts = Counter()
    @Sendable func next() -> String? { texts.increment() > 2 ? nil : "to be" }
    // listing: repeat-statements
    let polling = RepeatProcedure(name: "polls", max: 3) { () -> CountWords? in
      guard let text = next() else { return nil }
      let count = CountWords(text)
      count.name = "count \(text)"
      return count
    }
    queue.add(polling)
    // end
    scheduler.run()
    #expect(polling.count == 2 && polling.current?.name == "count to be")
  }
}
