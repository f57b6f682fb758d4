import Foundation
import ProcedureTestSupport
import ProceduresFakes
import ProceduresTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A part of an app, as a user writes it: it knows nothing of tests.
private struct Catalog: Sendable {
  let url = URL(string: "https://api.example/releases?token=secret")!
  var session = URLSession.shared

  func releases() -> NetworkProcedure<NetworkDataProcedure> {
    var resilience = NetworkResilience()
    resilience.backoffStrategy = .constant(.seconds(1))
    resilience.requestTimeout = .seconds(10)
    resilience.deadline = .seconds(120)
    return NetworkProcedure(resilience: resilience) { [url, session] in
      NetworkDataProcedure(session: session, url: url)
    }
  }
}

@Suite("A server of a test", .hangLimit)
struct FakeServerTests {
  private let url = URL(string: "https://api.example/file")!

  /// Runs what `add` returns in a simulation, and returns it with the time that it took.
  private func simulate<Added: Procedure>(
    _ server: FakeServer, seed: UInt64 = 1, _ make: () -> Added
  ) throws -> (procedure: Added, elapsed: Duration) {
    let simulation = ProcedureSimulation(seed: seed)
    let procedure = make()
    try simulation.run { simulation in
      let queue = simulation.makeQueue()
      queue.replaceNetwork(with: server)
      queue.add(procedure)
    }
    return (procedure, simulation.elapsed)
  }

  private func intervals(_ server: FakeServer) -> [Duration] {
    zip(server.requests, server.requests.dropFirst()).map { $0.instant.duration(to: $1.instant) }
  }

  // MARK: What a user tests

  @Test("I4, I8: 429 with Retry-After is waited for in virtual time, and then asked again")
  func retryAfter() throws {
    let server = FakeServer(.status(429, header: ["Retry-After": "30"]), .text("[]"))
    let (fetch, elapsed) = try simulate(server) { Catalog().releases() }
    #expect((try? fetch.output?.get().payload) == Data("[]".utf8))
    #expect(intervals(server) == [.seconds(30)] && elapsed == .seconds(30))
    #expect(server.requests.map(\.number) == [1, 2] && server.requests[0].path == "/releases")
    #expect(server.openCount == 0)
  }

  @Test("I4: a server that asks for a longer wait than is left is not asked again")
  func longRetryAfter() throws {
    let server = FakeServer(
      .status(503, header: ["Retry-After": "130"], body: Data("busy".utf8)).after(.seconds(5)))
    let (fetch, elapsed) = try simulate(server) { Catalog().releases() }
    let error = try #require(fetch.errors.first as? NetworkError)
    #expect(error.statusCode == 503 && error.body == Data("busy".utf8))
    #expect(error.deadlineLeft == .seconds(115) && elapsed == .seconds(5))
    #expect(server.requests.count == 1)
  }

  @Test(
    "I4, I8: a trickle meets the time-out for all of it; a closed connection and nonsense have their names"
  )
  func badManners() throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForResource = 5
    let session = URLSession(configuration: configuration)
    let trickle = FakeServer(.data(Data(count: 100)).inPieces(of: 1, every: .seconds(1)))
    let (fetch, elapsed) = try simulate(trickle) {
      NetworkDataProcedure(session: session, url: url)
    }
    #expect((fetch.errors.first as? URLError)?.code == .timedOut && elapsed == .seconds(5))
    for (method, count) in [("GET", 2), ("POST", 1)] {
      let server = FakeServer(.closed, .text("x"))
      var request = URLRequest(url: url)
      request.httpMethod = method
      let (send, _) = try simulate(server) { [request] in
        NetworkProcedure { NetworkDataProcedure(request: request) }
      }
      #expect(server.requests.count == count)
      #expect((send.errors.first as? URLError)?.code == (count == 1 ? .badServerResponse : nil))
    }
    let nonsense = FakeServer(.unreadable, .text("x"))
    let (unread, _) = try simulate(nonsense) { [url] in
      NetworkProcedure { NetworkDataProcedure(url: url) }
    }
    #expect((unread.errors.first as? URLError)?.code == .cannotParseResponse)
    #expect(nonsense.requests.count == 1)
  }

  @Test("I4, I8: a part of more bytes than there can be stops nothing, from a fake too")
  func outsideNumbers() throws {
    let body = Data("12345".utf8)
    let server = FakeServer(
      .status(
        206, header: ["Content-Range": "bytes 9223372036854775805-9223372036854775806/*"],
        body: body
      ).inPieces(of: 1, every: .seconds(1)))
    let (fetch, _) = try simulate(server) { NetworkDataProcedure(url: url) }
    #expect((try? fetch.output?.get().payload) == body)
  }

  @Test("I4, I8: a body is as long as its header says, and there is none where HTTP has none")
  func saidLength() throws {
    let body = Data("12345".utf8)
    for (status, length, arrived) in [
      (200, "3", "123"), (200, "10", nil), (200, "5", "12345"), (304, "5", ""), (204, "5", ""),
    ] {
      let server = FakeServer(.status(status, header: ["content-length": length], body: body))
      let (fetch, _) = try simulate(server) {
        NetworkDataProcedure(url: url, accepting: [200, 204, 304])
      }
      let payload = try? fetch.output?.get().payload
      #expect(payload == arrived.map { Data($0.utf8) }, "\(status) \(length)")
      let code = (fetch.errors.first as? URLError)?.code
      #expect(code == (arrived == nil ? .networkConnectionLost : nil), "\(status) \(length)")
    }
  }

  @Test("I4: a reset connection and a slow server are tried again, a timeout ends the attempt")
  func resetAndSlow() throws {
    let server = FakeServer(
      .reset.after(.seconds(2)), .text("late").after(.seconds(11)), .text("x"))
    let (fetch, elapsed) = try simulate(server) { Catalog().releases() }
    #expect((try? fetch.output?.get().payload) == Data("x".utf8))
    #expect(intervals(server) == [.seconds(3), .seconds(11)] && elapsed == .seconds(14))
    #expect(server.openCount == 0)
  }

  @Test("I4: without a response the error is the session's, unwrapped; a POST is not sent twice")
  func errors() throws {
    let offline = FakeServer(.failure(.notConnectedToInternet))
    let (fetch, _) = try simulate(offline) { NetworkDataProcedure(url: url) }
    #expect((fetch.errors.first as? URLError)?.code == .notConnectedToInternet)

    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    let post = request
    let server = FakeServer(.reset)
    let (send, _) = try simulate(server) {
      NetworkProcedure { NetworkUploadProcedure(request: post, body: .data(Data("order".utf8))) }
    }
    #expect((send.errors.first as? URLError)?.code == .networkConnectionLost)
    #expect(server.requests.map(\.body) == [Data("order".utf8)])
    #expect(server.requests.map(\.method) == ["POST"])
  }

  @Test("I8: a session gives up on a server that never answers after its time-out")
  func never() throws {
    let server = FakeServer(.never)
    let (fetch, elapsed) = try simulate(server) { NetworkDataProcedure(url: url) }
    #expect((fetch.errors.first as? URLError)?.code == .timedOut && elapsed == .seconds(60))

    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 20
    let session = URLSession(configuration: configuration)
    let slow = FakeServer(.text("x").after(.seconds(21)))
    #expect(
      try simulate(slow) { NetworkDataProcedure(session: session, url: url) }.elapsed
        == .seconds(20))
    var request = URLRequest(url: url, timeoutInterval: 30)
    let (patient, _) = try simulate(slow) {
      NetworkDataProcedure(session: session, request: request)
    }
    #expect(patient.outcome?.isSuccess == true)

    request.timeoutInterval = .infinity
    let endless = NetworkDataProcedure(request: request)
    let simulation = ProcedureSimulation(seed: 1)
    try simulation.run { simulation in
      let queue = simulation.makeQueue()
      queue.replaceNetwork(with: server)
      queue.add(endless)
      simulation.perform(after: .seconds(100_000)) {
        #expect(server.openCount == 1)
        endless.cancel()
      }
    }
    #expect(endless.isCancelled && endless.errors.isEmpty && server.openCount == 0)
    #expect(simulation.elapsed == .seconds(100_000))
  }

  @Test("I4: a body comes in pieces, each at its time, with progress; what stalls times out")
  func pieces() throws {
    let server = FakeServer(
      .data(Data(0..<10)).inPieces(of: 3, every: .seconds(4)).after(.seconds(1)))
    let seen = Recorder<String>()
    let simulation = ProcedureSimulation(seed: 3)
    try simulation.run { simulation in
      let queue = simulation.makeQueue()
      queue.replaceNetwork(with: server)
      let fetch = NetworkStreamProcedure(url: url) {
        NotingSink { piece in seen.note("\(simulation.elapsed.components.seconds): \(piece.count)")
        }
      }
      queue.add(fetch)
      simulation.perform(after: .seconds(6)) { seen.note("\(fetch.fractionCompleted)") }
    }
    #expect(seen.events == ["1: 3", "5: 3", "0.6", "9: 3", "13: 1"])

    let stalling = FakeServer(.data(Data(0..<10)).stalling(afterBytes: 4))
    let (fetch, elapsed) = try simulate(stalling) { NetworkDataProcedure(url: url) }
    #expect((fetch.errors.first as? URLError)?.code == .timedOut && elapsed == .seconds(60))
  }

  @Test(
    "I4: a download that breaks off leaves its destination, and one that resumes asks for the rest")
  func downloads() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data("old".utf8).write(to: file)
    let bytes = Data((0..<1_000).map { UInt8($0 % 251) })
    let tag = ["ETag": "\"1\""]
    let broken = FakeServer(
      .data(bytes, header: tag).inPieces(of: 100, every: .seconds(1)).failing(afterBytes: 600))
    let (plain, elapsed) = try simulate(broken) { NetworkDownloadProcedure(url: url, to: file) }
    #expect((plain.errors.first as? URLError)?.code == .networkConnectionLost)
    #expect(elapsed == .seconds(5))
    #expect(try Data(contentsOf: file) == Data("old".utf8))

    let server = FakeServer { request in
      guard let range = request.request.value(forHTTPHeaderField: "Range") else {
        return .data(bytes, header: tag).failing(afterBytes: 600)
      }
      #expect(range == "bytes=599-")
      return .status(
        206, header: ["ETag": "\"1\"", "Content-Range": "bytes 599-999/1000"],
        body: bytes.dropFirst(599))
    }
    let (resumed, _) = try simulate(server) {
      NetworkProcedure { NetworkDownloadProcedure(url: url, to: file, resuming: true) }
    }
    #expect(resumed.outcome?.isSuccess == true && server.requests.count == 2)
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test("requests have their body, also of a file, and the header of their session")
  func requests() throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["Authorization": "Bearer abc", "Accept": "text/html"]
    let session = URLSession(configuration: configuration)
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try Data("from a file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    request.setValue("text/plain", forHTTPHeaderField: "Accept")
    let put = request
    let server = FakeServer(.text(""))
    let (send, _) = try simulate(server) {
      NetworkUploadProcedure(session: session, request: put, body: .file(file))
    }
    #expect(send.outcome?.isSuccess == true && send.fractionCompleted == 1)
    let sent = try #require(server.requests.first)
    #expect(sent.body == Data("from a file".utf8))
    #expect(sent.request.value(forHTTPHeaderField: "Authorization") == "Bearer abc")
    #expect(sent.request.value(forHTTPHeaderField: "Accept") == "text/plain")

    let missing = FakeServer(.text(""))
    let (lost, _) = try simulate(missing) {
      NetworkUploadProcedure(request: put, body: .file(url.appending(path: "nowhere")))
    }
    #expect((lost.errors.first as? URLError)?.code == .unsupportedURL)
    #expect(missing.requests.isEmpty && missing.openCount == 0)

    request.httpMethod = "HEAD"
    let head = request
    let large = FakeServer(.text("not sent"))
    let (asked, _) = try simulate(large) { NetworkDataProcedure(request: head) }
    #expect((try? asked.output?.get().payload) == Data())
    #expect((try? asked.output?.get())?.response.expectedContentLength == 8)
    let (refused, _) = try simulate(large) {
      NetworkUploadProcedure(request: head, body: .data(Data("x".utf8)))
    }
    #expect((refused.errors.first as? NetworkError)?.code == .bodyNotAllowed)
    #expect(large.requests.map(\.body) == [Data()])
  }

  @Test("I4, I8: a request arrives without a length of its own, and with its scheme in lower case")
  func asSent() throws {
    var request = URLRequest(url: try #require(URL(string: "HTTPS://api.example/File?a=%20b")))
    request.httpMethod = "PUT"
    request.setValue("3", forHTTPHeaderField: "content-length")
    let put = request
    let server = FakeServer(.text(""))
    _ = try simulate(server) {
      NetworkUploadProcedure(request: put, body: .data(Data("12345".utf8)))
    }
    let sent = try #require(server.requests.first)
    #expect(sent.request.url?.absoluteString == "https://api.example/File?a=%20b")
    #expect(sent.request.value(forHTTPHeaderField: "Content-Length") == nil)
    #expect(sent.body.count == 5)
  }

  /// A server that moves everything but `/new` by `status`.
  private static func moving(by status: Int, to place: String) -> FakeServer {
    FakeServer { request in
      request.path == "/new"
        ? .text("\(request.method) \(request.body.count)")
        : .status(status, header: ["Location": place], body: Data("moved".utf8))
    }
  }

  @Test(
    "I4, I8: a redirect is followed by the rules of a session: method, whole body, header",
    arguments: [
      (301, "PUT", "PUT 1000"), (302, "PATCH", "PATCH 1000"), (302, "POST", "GET 0"),
      (303, "PUT", "GET 0"), (307, "POST", "POST 1000"), (308, "DELETE", "DELETE 1000"),
    ])
  func redirects(_ status: Int, _ method: String, _ arrived: String) throws {
    for (place, isSame) in [("/new", true), ("https://other.example/new", false)] {
      let server = Self.moving(by: status, to: place)
      var request = URLRequest(url: url)
      request.httpMethod = method
      for name in ["Authorization", "Cookie", "Content-Type", "X-Api-Key"] {
        request.setValue("a", forHTTPHeaderField: name)
      }
      let (send, _) = try simulate(server) { [request] in
        NetworkUploadProcedure(request: request, body: .data(Data(count: 1_000)))
      }
      let response = try #require(try send.output?.get())
      #expect(String(decoding: response.payload, as: UTF8.self) == arrived)
      #expect(response.response.url?.path() == "/new" && server.openCount == 0)
      let header = try #require(server.requests.last?.request.allHTTPHeaderFields)
      let expected: Set = ["X-Api-Key"]
      let kept = expected.union(isSame ? ["Authorization", "Cookie"] : [])
      #expect(Set(header.keys) == kept.union(arrived.hasSuffix("1000") ? ["Content-Type"] : []))
    }
  }

  @Test("I4, I8: a stream arrives whole, and a redirect that would need it again is an error")
  func redirectedStream() throws {
    for (status, code) in [(303, nil), (307, NetworkError.Code.bodyNotRepeatable)] {
      let server = Self.moving(by: status, to: "/new")
      let (send, _) = try simulate(server) {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data(count: 200_000))
        return NetworkDataProcedure(request: request)
      }
      #expect(server.requests.first?.body.count == 200_000)
      #expect((send.errors.first as? NetworkError)?.code == code)
      #expect(server.openCount == 0 && server.requests.count == (code == nil ? 2 : 1))
      if code != nil {
        #expect((send.errors.first as? NetworkError)?.request.url?.path() == "/new")
      }
    }
  }

  @Test("I4, I8: a POST that was redirected is not sent again; the error names the next request")
  func redirectedOrder() throws {
    let server = FakeServer { request in
      request.path == "/thanks" ? .status(503) : .status(303, header: ["Location": "/thanks"])
    }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    let (send, _) = try simulate(server) { [request] in
      NetworkProcedure {
        NetworkUploadProcedure(request: request, body: .data(Data(count: 1_000)))
      }
    }
    let error = try #require(send.errors.first as? NetworkError)
    #expect(server.requests.map(\.method) == ["POST", "GET"])
    #expect("\(error)" == "GET api.example/thanks was answered with status 503")
  }

  @Test("I4, I8: a circle of redirects ends, and one that leads nowhere is a response")
  func redirectsWithoutEnd() throws {
    let circle = FakeServer(.status(302, header: ["Location": "/file"]).after(.seconds(1)))
    let (fetch, elapsed) = try simulate(circle) { NetworkDataProcedure(url: url) }
    #expect((fetch.errors.first as? URLError)?.code == .httpTooManyRedirects)
    #expect(circle.requests.count == 21 && elapsed == .seconds(21) && circle.openCount == 0)
    let instants = circle.requests.map(\.instant)
    #expect(zip(instants, instants.dropFirst()).allSatisfy { $1 - $0 == .seconds(1) })

    let nowhere = FakeServer(.status(302, body: Data("moved".utf8)))
    let (lost, _) = try simulate(nowhere) { NetworkDataProcedure(url: url, accepting: [302]) }
    #expect(try lost.output?.get().payload == Data("moved".utf8))

    // The time for all of it counts on.
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForResource = 5.5
    let session = URLSession(configuration: configuration)
    let slow = FakeServer(.status(302, header: ["Location": "/file"]).after(.seconds(1)))
    let (late, end) = try simulate(slow) { NetworkDataProcedure(session: session, url: url) }
    #expect((late.errors.first as? URLError)?.code == .timedOut && end == .milliseconds(5_500))
    #expect(slow.requests.count == 6)
  }

  @Test("a closure decides for each request, and knows how often it came")
  func closure() throws {
    let server = FakeServer { request in
      switch (request.path, request.number) {
      case ("/file", 1): .status(500)
      case ("/file", _): .text("second")
      default: .status(404)
      }
    }
    let other = URL(string: "https://api.example/other")!
    let (group, _) = try simulate(server) {
      GroupProcedure(
        NetworkProcedure { NetworkDataProcedure(url: url) }, NetworkDataProcedure(url: other))
    }
    #expect(server.requests.map(\.path).sorted() == ["/file", "/file", "/other"])
    #expect((group.errors.first as? ProcedureError)?.underlyingErrors.first is NetworkError)
  }

  @Test("I4: an error that a sink throws ends the transfer, and is the error")
  func throwingSink() throws {
    let server = FakeServer(.data(Data(0..<10)).inPieces(of: 1, every: .seconds(1)))
    let (fetch, elapsed) = try simulate(server) {
      NetworkStreamProcedure(url: url) { NotingSink { if $0[0] == 3 { throw TestError("third") } } }
    }
    #expect(fetch.errors.first as? TestError == TestError("third"))
    #expect(elapsed == .seconds(3) && server.openCount == 0)
  }

  // MARK: Cancels

  @Test("I4: a cancel ends the transfer at any moment, and is no error of its own")
  func cancels() throws {
    let answers: [FakeAnswer] = [
      .text("x"), .never, .reset.after(.seconds(1)), .status(500),
      .data(Data(0..<9)).inPieces(of: 3, every: .seconds(1)),
      .data(Data(0..<9)).stalling(afterBytes: 3),
      .status(302, header: ["Location": "/file"]).after(.seconds(1)),
    ]
    let ends = Recorder<Bool>()
    try ProcedureSimulation.explore(seeds: 0..<1_000) { simulation in
      let server = FakeServer(answers[simulation.random(in: 0...6)])
      let queue = simulation.makeQueue()
      queue.replaceNetwork(with: server)
      let sinks = Counter()
      let fetch = NetworkStreamProcedure(url: url) { NotingSink(sinks) { _ in } }
      queue.add(fetch)
      let delay = Duration.milliseconds(500 * simulation.random(in: 0...6))
      simulation.perform(after: delay) { fetch.cancel() }
      try simulation.run()
      if fetch.isCancelled {
        try simulation.expect(fetch.errors.isEmpty, "\(fetch.errors)")
        // Nothing of it is left that could wake up.
        try simulation.expect(simulation.elapsed == delay, "something is left")
      }
      try simulation.expect(server.openCount == 0, "a transfer is left")
      try simulation.expect(sinks.value == 0, "a sink was not ended")
      ends.note(fetch.isCancelled)
    }
    #expect(Set(ends.events) == [true, false])
  }

  @Test("I8: the same seed gives the same run, and no other thread has a hand in it")
  func repeats() throws {
    func log(seed: UInt64) throws -> String {
      let simulation = ProcedureSimulation(seed: seed)
      let threads = Recorder<ObjectIdentifier>()
      let server = FakeServer { request in
        threads.note(ObjectIdentifier(Thread.current))
        return request.number.isMultiple(of: 3)
          ? .data(Data(0..<9)).inPieces(of: 2, every: .seconds(1)) : .reset.after(.seconds(1))
      }
      try simulation.run { simulation in
        let queue = simulation.makeQueue(maxConcurrentProcedureCount: 2)
        queue.replaceNetwork(with: server)
        for number in 0..<4 {
          let fetch = NetworkProcedure {
            NetworkStreamProcedure(url: url) {
              NotingSink { _ in threads.note(ObjectIdentifier(Thread.current)) }
            }
          }
          queue.add(fetch.named("\(number)"))
        }
      }
      #expect(Set(threads.events) == [ObjectIdentifier(Thread.current)])
      return simulation.log
    }
    for seed in 0..<20 as Range<UInt64> { #expect(try log(seed: seed) == log(seed: seed)) }
  }

  @Test("I4: a cancel before it was sent sends nothing")
  func early() throws {
    let server = FakeServer(.text("x"))
    let (fetch, _) = try simulate(server) {
      let fetch = NetworkDataProcedure(url: url)
      fetch.addDidExecuteBlockObserver { fetch in fetch.cancel() }
      return fetch
    }
    #expect(fetch.isCancelled && fetch.errors.isEmpty && server.openCount == 0)
  }

  // MARK: Other clocks

  @Test("I8: with a TestClock answers come when it is advanced, each at its time")
  func testClock() async throws {
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    let server = FakeServer(
      .data(Data(0..<4)).inPieces(of: 1, every: .seconds(1)).after(.seconds(1)), .text("at once"))
    queue.replaceNetwork(with: server)
    let (start, seen) = (clock.now, Recorder<Duration>())
    let fetch = NetworkStreamProcedure(url: url) {
      NotingSink { _ in seen.note(start.duration(to: clock.now)) }
    }
    queue.add(fetch)
    while clock.pendingCount == 0 { await Task.yield() }
    clock.advance(by: .seconds(3600))
    #expect(seen.events == [.seconds(1), .seconds(2), .seconds(3), .seconds(4)])
    try await fetch.finished(within: .seconds(1_000))
    #expect(
      try await queue.value(of: NetworkDataProcedure(url: url)).payload == Data("at once".utf8))
  }

  @Test(
    "I8: on a queue of threads many transfers come and are cancelled at once, and nothing is left")
  func threads() async throws {
    let live = LiveInstances()
    let server = FakeServer { $0.number % 2 == 0 ? .text("x") : .never }
    do {
      let queue = ProcedureQueue()
      queue.replaceNetwork(with: server)
      let all = (0..<400).map { _ in live.track(NetworkDataProcedure(url: url)) }
      queue.add(all)
      for (place, fetch) in all.enumerated() where place % 3 == 0 { fetch.cancel() }
      while server.requests.count < all.count(where: { !$0.isCancelled }) { await Task.yield() }
      queue.cancelAll()
      try await queue.allFinished(within: .seconds(1_000))
      for fetch in all { #expect(fetch.errors.isEmpty) }
    }
    #expect(server.openCount == 0)
    try await live.allReleased(within: .seconds(1_000))
  }

  @Test("I8: cancels race with a clock that another thread advances, and each transfer ends once")
  func racingClock() async throws {
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    let server = FakeServer(.data(Data(0..<4)).inPieces(of: 1, every: .seconds(1)))
    queue.replaceNetwork(with: server)
    let (open, ends) = (Counter(), Counter())
    let all = (0..<300).map { _ in
      let fetch = NetworkStreamProcedure(url: url) { NotingSink(open) { _ in } }
      fetch.addDidFinishBlockObserver { _, _ in ends.increment() }
      return fetch
    }
    queue.add(all)
    await withTaskGroup { group in
      group.addTask {
        while ends.value < all.count {
          clock.advance(by: .milliseconds(10))
          await Task.yield()
        }
      }
      for half in [0, 1] {
        group.addTask {
          for (place, fetch) in all.enumerated() where place % 4 == half { fetch.cancel() }
        }
      }
    }
    try await queue.allFinished(within: .seconds(1_000))
    #expect(ends.value == all.count && open.value == 0 && server.openCount == 0)
    for fetch in all { #expect(fetch.errors.isEmpty && fetch.isCancelled == (fetch.output == nil)) }
  }

  @Test("a queue keeps its server, and a later one replaces it for what executes then")
  func replaced() async throws {
    let queue = ProcedureQueue()
    queue.replaceNetwork(with: FakeServer(.text("first")))
    #expect(try await queue.value(of: NetworkDataProcedure(url: url)).payload == Data("first".utf8))
    queue.replaceNetwork(with: FakeServer(.text("second")))
    let inside = GroupProcedure(GroupProcedure(NetworkDataProcedure(url: url)))
    queue.add(inside)
    #expect(
      try await queue.value(of: NetworkDataProcedure(url: url)).payload == Data("second".utf8))
    try await inside.finished(within: .seconds(1_000))
    #expect(inside.outcome?.isSuccess == true)
  }

  @Test("zero, negative and endless times and sizes stop nothing")
  func extremes() throws {
    let day = URLRequest(url: url, timeoutInterval: 86_400)
    for answer in [
      FakeAnswer.text("x").after(.seconds(-1)),
      .text("x").after(.seconds(Int64.max)).after(.seconds(Int64.max)),
      .text("xyz").inPieces(of: 0, every: .seconds(-5)), .text("x").failing(afterBytes: -1),
      .text("").stalling(afterBytes: .max),
      .text("x").inPieces(of: .max, every: .seconds(Int64.max)),
      .status(-1), .status(0, header: ["": ""]),
    ] {
      let (fetch, elapsed) = try simulate(FakeServer(answer)) { NetworkDataProcedure(request: day) }
      #expect(fetch.isFinished && elapsed <= .seconds(86_400))
    }
  }
}

/// Calls a closure with each piece.
private final class NotingSink: BodySink {
  private let open: Counter?
  private let take: (Data) throws -> Void
  private var isOpen = false

  init(_ open: Counter? = nil, _ take: @escaping (Data) throws -> Void) {
    (self.open, self.take) = (open, take)
  }

  func begin(_ response: HTTPURLResponse) {
    if !isOpen { open?.increment() }
    isOpen = true
  }
  func receive(_ piece: Data) throws { try take(piece) }
  func end() { close() }
  func discard(after error: any Error) { close() }

  private func close() {
    if isOpen { open?.decrement() }
    isOpen = false
  }
}
