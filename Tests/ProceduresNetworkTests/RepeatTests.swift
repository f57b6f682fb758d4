import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server that keeps connections, and closes or resets one when the next request on it has come.
@Suite("Nothing arrives twice", .hangLimit)
struct RepeatTests {
  private let queue = ProcedureQueue(name: "orders")

  enum Body: CaseIterable, Sendable { case none, data, file, requestData, stream }

  /// Notes each request but those for `/open`, and answers the first ones not at all.
  private static func server(
    _ notes: Recorder<String>, unanswered: Int, resets: Bool
  ) throws -> LoopbackServer {
    let count = Counter()
    return try LoopbackServer { request, connection in
      if request.path == "/open" { return connection.send(body: "open") }
      notes.note("\(request.method) \(request.body.count)")
      if count.increment() > unanswered { return connection.send(body: "done") }
      if resets { connection.reset() } else { connection.end() }
    }
  }

  private static func procedure(
    _ method: String, _ url: URL, _ body: Body, _ file: URL, _ session: URLSession
  ) -> NetworkTaskProcedure<Data> {
    var request = URLRequest(url: url)
    request.httpMethod = method
    let data = Data("pay 100".utf8)
    switch body {
    case .none: break
    case .data: return NetworkUploadProcedure(session: session, request: request, body: .data(data))
    case .file: return NetworkUploadProcedure(session: session, request: request, body: .file(file))
    case .requestData: request.httpBody = data
    case .stream: request.httpBodyStream = InputStream(data: data)
    }
    return NetworkDataProcedure(session: session, request: request)
  }

  @Test(
    "I4: a request that may not be repeated arrives once, also where a connection is used again",
    arguments: Body.allCases, [false, true])
  func once(body: Body, resets: Bool) async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("pay 100".utf8).write(to: file)
    let session = URLSession(configuration: .patient)
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
      // The others may arrive twice, and do no more then.
      if body == .none, ["PUT", "DELETE"].contains(method) { continue }
      let notes = Recorder<String>()
      let server = try Self.server(notes, unanswered: .max, resets: resets)
      defer { server.stop() }
      let open = NetworkDataProcedure(session: session, url: server.url("/open"))
      queue.add(open)
      _ = try await open.value
      let send = Self.procedure(method, server.url("/order"), body, file, session)
      let error = await queue.run(send).errors.first as? URLError
      #expect(error != nil && error?.code != .timedOut)
      #expect(notes.events == ["\(method) \(body == .none ? 0 : 7)"])
    }
  }

  @Test(
    "I4: a PUT or DELETE that is tried again arrives whole",
    arguments: [Body.data, .file, .requestData])
  func attempts(body: Body) async throws {
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("pay 100".utf8).write(to: file)
    let session = URLSession(configuration: .patient)
    var resilience = NetworkResilience()
    resilience.backoffStrategy = .immediate
    for method in ["PUT", "DELETE"] {
      let notes = Recorder<String>()
      let server = try Self.server(notes, unanswered: 1, resets: false)
      defer { server.stop() }
      let send = NetworkProcedure(resilience: resilience) {
        Self.procedure(method, server.url("/order"), body, file, session)
      }
      #expect(await queue.run(send) == .succeeded)
      #expect(notes.events == ["\(method) 7", "\(method) 7"])
    }
  }

  #if canImport(FoundationNetworking)
    @Test("I4: a stream whose file cannot be read fails before anything is sent, by name")
    func unreadableStreams() async throws {
      let notes = Recorder<String>()
      let server = try Self.server(notes, unanswered: 0, resets: false)
      defer { server.stop() }
      let directory = try TemporaryDirectory()
      let (file, missing) = (
        directory.url.appending(path: "file"), directory.url.appending(path: "no ü file")
      )
      try Data("pay 100".utf8).write(to: file)
      for (file, code) in [
        (missing, URLError.Code.fileDoesNotExist), (file.appending(path: "a"), .fileDoesNotExist),
        (directory.url, .fileIsDirectory),
      ] {
        var request = URLRequest(url: server.url("/order"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(fileAtPath: file.path)
        let error =
          await queue.run(NetworkProcedure { [request] in NetworkDataProcedure(request: request) })
          .errors.first as? URLError
        #expect(error?.code == code && notes.events.isEmpty)
        #expect(error?.userInfo[NSFilePathErrorKey] as? String == file.path)
      }
      var request = URLRequest(url: server.url("/order"))
      request.httpMethod = "POST"
      request.httpBodyStream = InputStream(fileAtPath: file.path)
      #expect(await queue.run(NetworkDataProcedure(request: request)) == .succeeded)
      #expect(notes.events == ["POST 7"])
    }

    /// A stream of a user, which may be opened once.
    private final class CountedStream: InputStream {
      let openings = Counter()
      private let result: Int
      private var status = Status.notOpen

      /// - Parameter result: that of the first read.
      init(reading result: Int) {
        self.result = result
        super.init(data: Data())
      }

      override func open() {
        openings.increment()
        status = .open
      }
      override func close() {}
      override var streamStatus: Status { status }
      override var streamError: (any Error)? { status == .error ? POSIXError(.EIO) : nil }
      override var hasBytesAvailable: Bool { status == .open }
      override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        unsafe buffer[0] = 97
        status = result < 0 ? .error : .atEnd
        return result
      }
    }

    @Test("I4: a stream of the user's own class is opened once, and its failure is none of its end")
    func ownStreams() async throws {
      let notes = Recorder<String>()
      let server = try Self.server(notes, unanswered: 0, resets: false)
      defer { server.stop() }
      for (result, isSent) in [(1, true), (-1, false)] {
        var request = URLRequest(url: server.url("/order"))
        request.httpMethod = "POST"
        let stream = CountedStream(reading: result)
        request.httpBodyStream = stream
        let outcome = await queue.run(NetworkDataProcedure(request: request))
        #expect((outcome == .succeeded) == isSent && stream.openings.value == 1)
      }
      #expect(notes.events == ["POST 1"])
    }
  #endif

  @Test("I4: a stream that was read from is not sent again; the error is that of the attempt")
  func streams() async throws {
    let notes = Recorder<String>()
    let server = try Self.server(notes, unanswered: 1, resets: false)
    defer { server.stop() }
    var resilience = NetworkResilience()
    resilience.backoffStrategy = .immediate
    var request = URLRequest(url: server.url("/order"))
    request.httpMethod = "PUT"
    request.httpBodyStream = InputStream(data: Data("pay 100".utf8))
    let session = URLSession(configuration: .patient)
    let fixed = request
    let send = NetworkProcedure(resilience: resilience) {
      NetworkDataProcedure(session: session, request: fixed)
    }
    #expect(await queue.run(send).errors.first is URLError)
    #expect(notes.events == ["PUT 7"])
    let again = NetworkDataProcedure(session: session, request: fixed)
    let error = await queue.run(again).errors.first as? NetworkError
    #expect(error?.code == .bodyNotRepeatable && notes.events == ["PUT 7"])
  }

  /// Places of requests that note their numbers when they begin.
  private struct Line {
    let begun = Recorder<Int>()
    let places: ConnectionPlaces

    init(limit: Int, sharesConnections: Bool = true) {
      places = ConnectionPlaces(limit: limit, sharesConnections: sharesConnections)
    }

    func enter(_ number: Int, _ url: String = "http://a") -> ConnectionPlace {
      let place = places.makePlace(to: URL(string: url).flatMap(Origin.init))
      place.enter { [begun] in begun.note(number) }
      return place
    }

    func waitFor(_ numbers: Set<Int>) async {
      #expect(await eventually { Set(begun.events) == numbers })
    }
  }

  @Test("I4: no more requests to an origin than the session allows have places at a time")
  func places() async {
    let line = Line(limit: 3)
    let places = (1...5).map { line.enter($0) }
    _ = line.enter(10, "http://b")
    // An address that is not of HTTP has no connections.
    for number in 20...24 { _ = line.enter(number, "data:,a") }
    #expect(line.begun.events == [1, 2, 3, 10] + Array(20...24))
    places[0].leave()
    places[0].leave()
    await line.waitFor([1, 2, 3, 4, 10, 20, 21, 22, 23, 24])
    // The fifth leaves the line before its turn.
    for place in places.reversed() { place.leave() }
    let later = (6...8).map { line.enter($0) }
    #expect(line.begun.events.suffix(3) == [6, 7, 8] && !line.begun.events.contains(5))
    let last = line.enter(9)
    later[1].leave()
    await line.waitFor([1, 2, 3, 4, 6, 7, 8, 9, 10, 20, 21, 22, 23, 24])
    last.leave()
  }

  @Test("I4: a place that was left before its turn, or before it entered, passes to the next one")
  func leftPlaces() async {
    let line = Line(limit: 1)
    let places = (1...4).map { line.enter($0) }
    places[1].leave()
    places[2].leave()
    places[0].leave()
    await line.waitFor([1, 4])
    let never = line.places.makePlace(to: URL(string: "http://a").flatMap(Origin.init))
    never.leave()
    never.enter { Issue.record("entered") }
    places[3].leave()
    _ = line.enter(5)
    await line.waitFor([1, 4, 5])
  }

  @Test("I4: a connection that carries many requests lets all in, unless each has its own")
  func multiplexed() async {
    let line = Line(limit: 1)
    let places = (1...4).map { line.enter($0) }
    places[2].leave()
    #expect(places[0].isWanted)
    places[0].liftLimit()
    await line.waitFor([1, 2, 4])
    _ = line.enter(5)
    #expect(line.begun.events.last == 5 && !places[0].isWanted)
    let own = Line(limit: 1, sharesConnections: false)
    let first = own.enter(1)
    _ = own.enter(2)
    #expect(!first.isWanted)
  }

  #if canImport(FoundationNetworking)
    @Test(
      "I4: the time-out of a request does not count its wait for a connection",
      arguments: ["GET", "POST"])
    func timeInLine(method: String) async throws {
      // Longer on a busy machine, where an answer may take this long.
      for timeout in [0.5, 4, 32] where try await isInTime(method, timeout) { return }
      Issue.record("timed out in line")
    }

    /// Whether a request is answered that waits for a connection for longer than its time-out.
    private func isInTime(_ method: String, _ timeout: TimeInterval) async throws -> Bool {
      let (asked, gate) = (Gate(), Gate())
      let server = try LoopbackServer { request, connection in
        if request.path == "/silence" { return connection.waitForEnd() }
        if request.path == "/first" {
          asked.open()
          gate.block()
        }
        connection.send(body: "done")
      }
      defer { server.stop() }
      func send(
        _ path: String, _ session: URLSession, timeout: TimeInterval = 0
      ) -> NetworkDataProcedure {
        var request = URLRequest(url: server.url(path))
        (request.httpMethod, request.timeoutInterval) = (method, timeout)
        let procedure = NetworkDataProcedure(session: session, request: request)
        queue.add(procedure)
        return procedure
      }
      let configuration = URLSessionConfiguration.patient
      configuration.httpMaximumConnectionsPerHost = 1
      let session = URLSession(configuration: configuration)
      let first = send("/first", session)
      await asked.wait()
      let second = send("/second", session, timeout: timeout)
      // Its time begins later, and there is no line before it.
      let later = send("/silence", URLSession(configuration: .patient), timeout: timeout * 1.2)
      #expect((await later.waitUntilFinished().errors.first as? URLError)?.code == .timedOut)
      gate.open()
      #expect(await first.waitUntilFinished() == .succeeded)
      return await second.waitUntilFinished() == .succeeded
    }

    @Test("I4: a load in line for a connection has its task, and is cancelled at once")
    func loadInLine() async throws {
      let (asked, gate) = (Gate(), Gate())
      let server = try LoopbackServer { _, connection in
        asked.open()
        gate.block()
        connection.send(body: "done")
      }
      defer { server.stop() }
      let configuration = URLSessionConfiguration.patient
      configuration.httpMaximumConnectionsPerHost = 1
      let session = URLSession(configuration: configuration)
      let first = NetworkDataProcedure(session: session, url: server.url("/"))
      queue.add(first)
      await asked.wait()
      let source = CancellationTokenSource()
      let (error, isEnded) = (Slot<URLError.Code>(), Gate())
      let task = session.data(from: server.url("/"), cancellationToken: source.token) {
        _, _, cause in
        error.value = (cause as? URLError)?.code
        isEnded.open()
      }
      #expect(task.state == .suspended)
      source.cancel()
      await isEnded.wait()
      #expect(error.value == .cancelled)
      #expect(await eventually { task.state == .completed })
      gate.open()
      #expect(try await first.value.statusCode == 200)
      #expect(server.requests.value == 1)
    }
  #endif

  @Test("I4: many more requests than connections all arrive, and those that wait can be cancelled")
  func many() async throws {
    let notes = Recorder<String>()
    let server = try Self.server(notes, unanswered: 0, resets: false)
    defer { server.stop() }
    let configuration = URLSessionConfiguration.patient
    configuration.httpMaximumConnectionsPerHost = 2
    let session = URLSession(configuration: configuration)
    var request = URLRequest(url: server.url("/order"))
    request.httpMethod = "POST"
    let sends = (0..<40).map { _ in
      NetworkUploadProcedure(session: session, request: request, body: .data(Data("a".utf8)))
    }
    queue.add(sends)
    for send in sends.suffix(5) { send.cancel() }
    for send in sends.dropLast(5) { #expect(try await send.value.statusCode == 200) }
    for send in sends.suffix(5) { await send.waitUntilFinished() }
    #expect((35...40).contains(notes.events.count))
  }
}
