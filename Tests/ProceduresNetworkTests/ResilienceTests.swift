import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Resilience of network procedures", .hangLimit)
struct ResilienceTests {
  private let request = URLRequest(url: URL(string: "http://a.example/b")!)

  private func refusal(_ status: Int, _ header: [String: String] = [:]) -> NetworkError {
    let response = HTTPURLResponse(
      url: request.url!, statusCode: status, httpVersion: nil, headerFields: header)
    return NetworkError(.unacceptableStatus, request: request, response: response)
  }

  @Test("I4: Retry-After is a number of seconds or a date, which counts from the server's own")
  func retryAfter() {
    func after(_ text: String, date: String? = nil) -> Duration? {
      var header = ["Retry-After": text]
      header["Date"] = date
      return refusal(503, header).retryAfter
    }
    #expect(after("0") == .zero && after(" 120 ") == .seconds(120))
    #expect(after("99999999999999999999") == .seconds(Int64.max))
    for text in ["", "-1", "1.5", "soon", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT"] {
      #expect(after(text) == nil, "\(text)")
    }
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(RetryAfter.secondsSince1970(date) == 784_111_777)
    #expect(RetryAfter.secondsSince1970("Thu, 29 Feb 2024 00:00:00 GMT") == 1_709_164_800)
    #expect(after(date, date: "Sun, 06 Nov 1994 08:48:37 GMT") == .seconds(60))
    #expect(after(date, date: "Mon, 07 Nov 1994 08:48:37 GMT") == .zero)
    #expect(after(date) == .zero)
    #expect(refusal(503).retryAfter == nil)
  }

  @Test(
    "I4: status and error decide about another attempt, and whether the request may be sent twice")
  func decisions() {
    let resilience = NetworkResilience()
    func isRetried(_ error: any Error, _ method: String? = "GET") -> Bool {
      resilience.decision(after: [error], method: method) != .giveUp
    }
    for status in [408, 425, 429, 500, 502, 503, 504] { #expect(isRetried(refusal(status))) }
    for status in [300, 400, 401, 403, 404, 409, 501] { #expect(!isRetried(refusal(status))) }
    for code in [
      URLError.Code.timedOut, .networkConnectionLost, .cannotConnectToHost, .badServerResponse,
    ] {
      #expect(isRetried(URLError(code)))
    }
    for code in [URLError.Code.badURL, .cancelled, .serverCertificateUntrusted] {
      #expect(!isRetried(URLError(code)))
    }
    #expect(isRetried(ProcedureError(.timedOut)) && !isRetried(CancellationError()))
    // A POST may have been acted on, unless it cannot have.
    for error in [
      refusal(500), refusal(504), URLError(.timedOut), URLError(.badServerResponse),
      ProcedureError(.timedOut),
    ] as [any Error] {
      #expect(!isRetried(error, "POST") && isRetried(error, nil) && isRetried(error, "PUT"))
    }
    for error in [refusal(429), refusal(503), URLError(.cannotConnectToHost)] as [any Error] {
      #expect(isRetried(error, "POST"))
    }
    var other = NetworkResilience()
    other.repeatsAnyMethod = true
    other.retriesAfter = { $0 is TestError }
    #expect(other.decision(after: [refusal(500)], method: "POST") == .retry(notBefore: .zero))
    #expect(other.decision(after: [TestError("a")], method: nil) == .retry(notBefore: .zero))
    other.deadline = .seconds(60)
    for (seconds, decision) in [
      (60, NetworkResilience.Decision.retry(notBefore: .seconds(60))), (61, .giveUp),
    ] {
      let error = refusal(503, ["Retry-After": "\(seconds)"])
      #expect(other.decision(after: [error], method: "GET") == decision)
    }
    other.deadline = nil
    other.longestRetryAfter = .seconds(5)
    #expect(
      other.decision(after: [refusal(503, ["Retry-After": "6"])], method: "GET") == .giveUp)
  }

  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  /// How many attempts were begun. One more may have been made, before it was decided to give up.
  private let made = Counter()

  /// Ends as listed, one attempt after the other, and then succeeds.
  private func attempts(_ errors: (any Error)...) -> @Sendable () -> ResultProcedure<Int> {
    { [made] in
      ResultProcedure {
        let number = made.increment()
        if number <= errors.count { throw errors[number - 1] }
        return number
      }
    }
  }

  private func start(_ procedure: Procedure) -> ProcedureQueue {
    let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    queue.add(procedure)
    scheduler.run()
    return queue
  }

  private func pass(_ duration: Duration) {
    clock.advance(by: duration)
    scheduler.run()
  }

  @Test(
    "I4: a retry waits on the queue's clock, for the backoff, or longer if the server asks for it")
  func waits() {
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = nil
    resilience.backoffStrategy = .exponential(period: .seconds(4))
    let fetch = NetworkProcedure(
      resilience: resilience,
      body: attempts(
        URLError(.timedOut), refusal(429, ["Retry-After": "30"]),
        refusal(503, ["Retry-After": "1"])))
    let queue = start(fetch)
    for (attempt, wait) in [(1, 4), (2, 30), (3, 16)] {
      #expect(made.value == attempt)
      pass(.seconds(wait) - .milliseconds(1))
      #expect(made.value == attempt && fetch.current?.isFinished == false)
      pass(.milliseconds(1))
    }
    #expect(fetch.outcome == .succeeded)
    #expect(made.value == 4)
    #expect(queue.count == 0 && (try? fetch.output?.get()) == 4)
  }

  @Test(
    "I4: a retry ends with the error of the last attempt, unwrapped, when trying again is of no use"
  )
  func givesUp() {
    for (errors, count) in [
      ([refusal(404)], 1), ([refusal(500), refusal(403)], 2),
      ([refusal(500), refusal(502), refusal(503)], 3),
    ] {
      let made = Counter()
      let fetch = NetworkProcedure {
        ResultProcedure<Int> { throw errors[made.increment() - 1] }
      }
      let queue = start(fetch)
      for _ in 0..<10 { pass(.seconds(10)) }
      let error = fetch.errors.first as? NetworkError
      #expect(error?.statusCode == errors[count - 1].statusCode && fetch.errors.count == 1)
      #expect(made.value == count && queue.count == 0)
    }
  }

  @Test("I4: the deadline counts for all attempts and waits; the last failure follows its error")
  func deadline() {
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = nil
    resilience.backoffStrategy = .constant(.seconds(20))
    resilience.deadline = .seconds(50)
    let fetch = NetworkProcedure(resilience: resilience) {
      ResultProcedure<Int> { throw self.refusal(503) }
    }
    let queue = start(fetch)
    for _ in 0..<5 { pass(.seconds(10)) }
    #expect(fetch.isFinished && queue.count == 0)
    #expect((fetch.errors.first as? ProcedureError)?.code == .timedOut)
    #expect((fetch.errors.last as? NetworkError)?.statusCode == 503)
  }

  @Test(
    "I4: a server that asks for a longer wait than is left ends the retry at once, and the error says both"
  )
  func waitPastDeadline() {
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = 4
    resilience.backoffStrategy = .immediate
    resilience.deadline = .seconds(60)
    // After 20 s there are 40 left: 40 is not past them, and 41 is.
    for (wait, isTriedAgain) in [("40", true), ("41", false)] {
      let before = made.value
      let busy = [refusal(503, ["Retry-After": "20"]), refusal(429, ["Retry-After": wait])]
      let fetch = NetworkProcedure(resilience: resilience) { [made] in
        let number = made.increment() - before
        return ResultProcedure<Int> {
          if number <= busy.count { throw busy[number - 1] }
          return number
        }
      }
      let queue = start(fetch)
      pass(.seconds(20))
      #expect(fetch.isFinished != isTriedAgain)
      if !isTriedAgain {
        let error = fetch.errors.first as? NetworkError
        #expect(fetch.errors.count == 1 && error?.statusCode == 429 && !fetch.isCancelled)
        #expect(error?.retryAfter == .seconds(41) && error?.deadlineLeft == .seconds(40))
        let text = error.map { "\($0)" } ?? ""
        #expect(
          text.contains("asks to wait 41 s, but 40 s of the deadline are left"),
          "\(text)")
        #expect(queue.count == 0 && clock.pendingCount == 0)
      }
      fetch.cancel()
      scheduler.run()
    }
  }

  @Test("I4: the last attempt that may be made does not blame the deadline")
  func lastAttemptPastDeadline() {
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = 1
    resilience.deadline = .seconds(60)
    let fetch = NetworkProcedure(
      resilience: resilience, body: attempts(refusal(503, ["Retry-After": "61"])))
    _ = start(fetch)
    let error = fetch.errors.first as? NetworkError
    #expect(fetch.isFinished && error?.statusCode == 503 && error?.deadlineLeft == nil)
  }

  @Test("I4: a deadline that does not count the wait in line counts attempts, and waits in between")
  func deadlineWithoutLine() {
    let category = ExclusionCategory(named: "host", in: ExclusionDomain(name: "deadline"))
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = nil
    resilience.backoffStrategy = .constant(.seconds(3))
    resilience.deadline = .seconds(10)
    resilience.deadlineCountsLine = false
    resilience.conditions = [AtMost(1, of: category)]
    let holder = TracedProcedure("holder", end: .whenToldOrCancelled)
    holder.add(condition: AtMost(1, of: category))
    _ = start(holder)
    let fetch = NetworkProcedure(resilience: resilience) {
      TracedProcedure("\(self.made.increment())", end: .whenToldOrCancelled)
    }
    _ = start(fetch)
    pass(.seconds(3_600))
    holder.finish()
    scheduler.run()
    #expect(made.value == 1 && fetch.current?.isExecuting == true)
    // Four seconds of an attempt, and three between the two: three are left.
    pass(.seconds(4))
    fetch.current?.finish(withError: URLError(.timedOut))
    scheduler.run()
    #expect(made.value == 2)
    let next = TracedProcedure("next", end: .whenToldOrCancelled)
    next.add(condition: AtMost(1, of: category))
    _ = start(next)
    pass(.seconds(3_600))
    next.finish()
    scheduler.run()
    #expect(fetch.current?.isExecuting == true)
    pass(.milliseconds(2_999))
    #expect(!fetch.isFinished)
    pass(.milliseconds(1))
    #expect(fetch.isFinished && !fetch.isCancelled && fetch.count == 2)
    #expect(fetch.errors.count == 1)
    #expect((fetch.errors.first as? ProcedureError)?.code == .timedOut)
    #expect(clock.pendingCount == 0)
  }

  @Test("I4: Retry-After keeps all requests of the same rate back")
  func sharedPause() {
    let category = ExclusionCategory(named: "host", in: ExclusionDomain(name: "pause"))
    var resilience = NetworkResilience()
    resilience.backoffStrategy = .immediate
    resilience.conditions = [RateLimit(2, per: .seconds(1), of: category)]
    let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    for _ in 0..<2 {
      queue.add(
        NetworkProcedure(
          resilience: resilience, body: attempts(refusal(429, ["Retry-After": "30"]))))
    }
    scheduler.run()
    let others = (0..<2).map { _ in NetworkProcedure(resilience: resilience, body: attempts()) }
    queue.add(others)
    scheduler.run()
    // The second attempt has not even asked.
    #expect(made.value == 1)
    pass(.milliseconds(29_999))
    #expect(made.value == 1)
    pass(.milliseconds(1))
    #expect(made.value == 3)
    pass(.seconds(1))
    #expect(made.value == 5 && queue.count == 0)
  }

  @Test(
    "I4: only a status that asks for it pauses a rate, after the last attempt too, and no longer than allowed"
  )
  func pauseOfRates() {
    let category = ExclusionCategory(named: "host", in: ExclusionDomain(name: "pauses"))
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = 1
    resilience.longestRetryAfter = .seconds(60)
    let rate = RateLimit(9, per: .seconds(1), of: category)
    resilience.conditions = [rate && BlockCondition { true }]
    for (status, wait, paused) in [(404, "50", 0), (503, "20", 20), (429, "31536000", 60)] {
      let fetch = NetworkProcedure(resilience: resilience) {
        ResultProcedure<Int> { throw self.refusal(status, ["Retry-After": wait]) }
      }
      _ = start(fetch)
      #expect(fetch.isFinished)
      let next = TracedProcedure("next", end: .whenToldOrCancelled)
      next.add(condition: rate)
      _ = start(next)
      #expect(next.isExecuting == (paused == 0))
      pass(.seconds(paused))
      #expect(next.isExecuting)
      next.finish()
      pass(.seconds(1))
    }
  }

  @Test("I4: an attempt that takes too long is cancelled and tried again")
  func requestTimeout() {
    var resilience = NetworkResilience()
    resilience.requestTimeout = .seconds(8)
    resilience.backoffStrategy = .immediate
    let made = Counter()
    let fetch = NetworkProcedure(resilience: resilience) {
      TracedProcedure("\(made.increment())", end: .whenToldOrCancelled)
    }
    _ = start(fetch)
    for attempt in 1...3 {
      #expect(made.value == attempt)
      pass(.seconds(8))
    }
    #expect((fetch.errors.first as? ProcedureError)?.code == .timedOut && made.value == 3)
  }

  @Test("I4: a request gets through to a server that answered 503, 429 and half a body before")
  func realServer() async throws {
    let asked = Counter()
    let server = try LoopbackServer { _, connection in
      switch asked.increment() {
      case 1: connection.send(status: "503 Busy", header: "Retry-After: 3")
      case 2: connection.send(status: "429 Slow Down", header: "Retry-After: 2")
      case 3:
        connection.sendHead(length: 10)
        connection.send(Data("brok".utf8))
        connection.end()
      default: connection.send(body: #"{"a": 1}"#)
      }
    }
    defer { server.stop() }
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = 4
    resilience.backoffStrategy = .constant(.seconds(1))
    let (clock, session) = (TestClock(), URLSession(configuration: .patient))
    let waits = Recorder<Duration>()
    let fetch = NetworkProcedure(resilience: resilience) {
      NetworkDataProcedure(session: session)
    }
    fetch.input = URLRequest(url: server.url("/"))
    fetch.addWillAddProcedureBlockObserver { _, added in
      guard let delay = added as? DelayProcedure else { return }
      // It is under way when its didExecute comes.
      delay.addDidExecuteBlockObserver { _ in
        for seconds in 1...3 where clock.pendingCount > 0 {
          clock.advance(by: .seconds(1))
          if clock.pendingCount == 0 { waits.note(.seconds(seconds)) }
        }
      }
    }
    let decode = DecodeJSONProcedure([String: Int].self).injectPayload(fromNetwork: fetch)
    ProcedureQueue(clock: clock.clock).add(fetch, decode)
    #expect(try await decode.value == ["a": 1])
    #expect(asked.value == 4 && waits.events == [.seconds(3), .seconds(2), .seconds(1)])
  }

  @Test("I4: a server that ends the connection without an answer is asked again, but for a POST")
  func closingServer() async throws {
    let asked = Counter()
    let server = try LoopbackServer { _, connection in
      if asked.increment() < 3 { connection.end() } else { connection.send(body: "here again") }
    }
    defer { server.stop() }
    var resilience = NetworkResilience()
    resilience.backoffStrategy = .immediate
    let session = URLSession(configuration: .patient)
    let fetch = NetworkProcedure(resilience: resilience) {
      NetworkDataProcedure(session: session)
    }
    fetch.input = URLRequest(url: server.url("/"))
    ProcedureQueue().add(fetch)
    #expect(try await fetch.value.payload == Data("here again".utf8) && asked.value == 3)

    let closed = Counter()
    let closing = try LoopbackServer { _, connection in
      closed.increment()
      connection.end()
    }
    defer { closing.stop() }
    let send = NetworkProcedure(resilience: resilience) { [url = closing.url("/")] in
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      return NetworkUploadProcedure(session: session, request: request, body: .data(Data([1])))
    }
    let outcome = await ProcedureQueue().run(send)
    #expect(outcome.errors.first is URLError && closed.value == 1)
  }

  @Test("Z4, I4: a retry without an attempt fails, and says so")
  func noAttempt() {
    var resilience = NetworkResilience()
    resilience.maximumNumberOfAttempts = 0
    resilience.deadline = .seconds(60)
    let fetch = NetworkProcedure(name: "fetch", resilience: resilience, body: attempts())
    let queue = start(fetch)
    #expect(fetch.outcome == .failed([ProcedureError(.notAttempted, procedure: "fetch")]))
    #expect(made.value == 0 && queue.count == 0)
  }

  @Test("I4: an error with a status and a header can be made, for a test without a server")
  func ownError() {
    var resilience = NetworkResilience()
    resilience.backoffStrategy = .immediate
    let busy = NetworkError(
      .unacceptableStatus, request: request, status: 429, header: ["Retry-After": "30"],
      body: Data("slow down".utf8))
    #expect(busy.statusCode == 429 && busy.retryAfter == .seconds(30) && busy.body.count == 9)
    #expect("\(busy)" == "GET a.example/b was answered with status 429")
    let fetch = NetworkProcedure(resilience: resilience, body: attempts(busy))
    _ = start(fetch)
    pass(.seconds(30) - .milliseconds(1))
    #expect(made.value == 1)
    pass(.milliseconds(1))
    #expect(fetch.outcome == .succeeded && made.value == 2)
    let refused = NetworkError(.bodyNotAllowed, request: request)
    #expect(refused.response == nil && refused.statusCode == nil)
  }

  @Test("I4: a cancel while it waits, or while it loads, ends it as cancelled")
  func cancelling() async throws {
    let fetch = NetworkProcedure(body: attempts(URLError(.timedOut)))
    let queue = start(fetch)
    fetch.cancel()
    scheduler.run()
    #expect(fetch.outcome?.isCancelled == true && queue.count == 0)
    let server = try LoopbackServer()
    defer { server.stop() }
    let session = URLSession(configuration: .patient)
    let loading = NetworkProcedure { [url = server.url("/silence")] in
      NetworkDataProcedure(session: session, url: url)
    }
    ProcedureQueue().add(loading)
    await server.asked.wait()
    loading.cancel()
    await server.connectionEnded.wait()
    #expect(await loading.waitUntilFinished() == .cancelled([]))
  }
}
