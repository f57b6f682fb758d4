import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One resource, of which parts may be asked for, on a server that ends its connections early.
private final class Resource: Sendable {
  struct State: Sendable {
    var body: Data
    var header = ["ETag: \"one\""]
    /// After so many bytes of an answer the connection ends.
    var mostBytes: Int
    /// Whether a part is sent whatever it is the part of.
    var ignoresMarks = false
    var isUnmodified = false
    var ranges: [String?] = []
    var marks: [String?] = []
  }

  let state: Locked<State>

  init(_ count: Int, cutAfter mostBytes: Int = .max) {
    state = Locked(State(body: .pattern(count), mostBytes: mostBytes))
  }

  var body: Data { state.withLock { $0.body } }
  /// What was asked for, one after another.
  var ranges: [String?] { state.withLock { $0.ranges } }
  var marks: [String?] { state.withLock { $0.marks } }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  func serve() throws -> LoopbackServer {
    try LoopbackServer { request, connection in self.answer(request, connection) }
  }

  private func answer(_ request: LoopbackRequest, _ connection: LoopbackConnection) {
    let state = state.withLock { state in
      state.ranges.append(request.header["range"])
      state.marks.append(request.header["if-range"])
      return state
    }
    if state.isUnmodified {
      connection.send(Data("HTTP/1.1 304 Not Modified\r\n\r\n".utf8))
      return
    }
    let mark = request.header["if-range"] ?? ""
    let isMarked = state.ignoresMarks || state.header.contains { $0.hasSuffix(mark) }
    let start = request.header["range"].flatMap { Int($0.dropFirst(6).dropLast()) }
    var (status, rest, header) = ("200 OK", state.body, state.header)
    if let start, isMarked {
      guard start < rest.count else {
        return connection.send(status: "416 No", body: "none")
      }
      status = "206 Partial Content"
      header.append("Content-Range: bytes \(start)-\(rest.count - 1)/\(rest.count)")
      rest = rest.suffix(from: start)
    }
    connection.sendHead(status: status, length: rest.count, header)
    connection.send(rest.prefix(state.mostBytes))
    if rest.count > state.mostBytes { connection.end() }
  }
}

@Suite("Downloads that go on", .hangLimit)
struct ResumingTests {
  private let queue = ProcedureQueue(name: "network")
  private let session = URLSession(configuration: .patient)
  private let directory: TemporaryDirectory
  private let file: URL

  init() throws {
    directory = try TemporaryDirectory()
    file = directory.url.appending(path: "file")
  }

  private func download(_ server: LoopbackServer, _ path: String = "/a?secret")
    -> NetworkDownloadProcedure
  {
    NetworkDownloadProcedure(session: session, url: server.url(path), to: file, resuming: true)
  }

  @Test("I4: each attempt asks for what is missing, until all is there")
  func attempts() async throws {
    let resource = Resource(500_000, cutAfter: 120_000)
    let server = try resource.serve()
    defer { server.stop() }
    try Data("before".utf8).write(to: file)
    var resilience = NetworkResilience()
    (resilience.maximumNumberOfAttempts, resilience.backoffStrategy) = (6, .immediate)
    let fetch = NetworkProcedure(resilience: resilience) { download(server) }
    queue.add(fetch)
    #expect(try await fetch.value.payload == file)
    #expect(try Data(contentsOf: file) == resource.body && directory.names == ["file"])
    #expect(
      resource.ranges == [
        nil, "bytes=119999-", "bytes=239998-", "bytes=359997-", "bytes=479996-",
      ])
    #expect(resource.marks.dropFirst().allSatisfy { $0 == "\"one\"" })
  }

  @Test("I4: a new download goes on with the part of one that failed or was cancelled")
  func later() async throws {
    let resource = Resource(300_000, cutAfter: 100_000)
    let server = try resource.serve()
    defer { server.stop() }
    try Data("before".utf8).write(to: file)
    #expect(await queue.run(download(server)).isFailure)
    #expect(directory.names.sorted() == ["file", "file.part", "file.part-tag"])
    #expect(try String(contentsOf: file, encoding: .utf8) == "before")
    let tag = file.appendingPathExtension("part-tag")
    let identity = ResumableFile.identity(of: URLRequest(url: server.url("/a?secret")))
    #expect(try String(contentsOf: tag, encoding: .utf8) == "\(identity)\n\"one\"")
    let cancelled = download(server)
    cancelled.cancel()
    #expect(await queue.run(cancelled).isCancelled)
    resource.change { $0.mostBytes = .max }
    let last = download(server)
    let updates = last.progressUpdates
    queue.add(last)
    var least = 1.0
    for await fraction in updates where fraction > 0 { least = min(least, fraction) }
    #expect(try await last.value.statusCode == 206 && least > 0.3)
    #expect(try Data(contentsOf: file) == resource.body && directory.names == ["file"])
    #expect(resource.ranges == [nil, "bytes=99999-"])
  }

  @Test("I4: a response without a body leaves the part of an earlier download, and its destination")
  func bodiless() async throws {
    let resource = Resource(300_000, cutAfter: 100_000)
    let server = try resource.serve()
    defer { server.stop() }
    try Data("before".utf8).write(to: file)
    #expect(await queue.run(download(server)).isFailure)
    resource.change { ($0.isUnmodified, $0.mostBytes) = (true, .max) }
    let second = NetworkDownloadProcedure(
      session: session, url: server.url("/a?secret"), to: file, resuming: true, accepting: [304])
    queue.add(second)
    #expect(try await second.value.statusCode == 304)
    #expect(directory.names.sorted() == ["file", "file.part", "file.part-tag"])
    #expect(try String(contentsOf: file, encoding: .utf8) == "before")
    resource.change { $0.isUnmodified = false }
    let last = download(server)
    queue.add(last)
    #expect(try await last.value.statusCode == 206)
    #expect(try Data(contentsOf: file) == resource.body && directory.names == ["file"])
  }

  @Test("I4: a part is not used after the resource has changed, or for another URL")
  func changed() async throws {
    for path in ["/a", "/b"] {
      let resource = Resource(300_000, cutAfter: 100_000)
      let server = try resource.serve()
      defer { server.stop() }
      #expect(await queue.run(download(server, "/a")).isFailure)
      resource.change { state in
        (state.body, state.mostBytes) = (.pattern(200_000, factor: 11), .max)
        if path == "/a" { state.header = ["ETag: \"two\""] }
      }
      let second = download(server, path)
      queue.add(second)
      #expect(try await second.value.statusCode == 200)
      #expect(try Data(contentsOf: file) == resource.body && directory.names == ["file"])
    }
  }

  @Test("I4: a part is not used for another query, port, scheme, method or header")
  func otherRequest() async throws {
    // As strong as a mark can be, and the same for all of them.
    let (resource, other) = (Resource(300_000, cutAfter: 100_000), Resource(200_000))
    other.change { $0.body = .pattern(200_000, factor: 11) }
    let (server, otherServer) = (try resource.serve(), try other.serve())
    defer { for server in [server, otherServer] { server.stop() } }
    var header = URLRequest(url: server.url("/a?one"))
    header.setValue("b", forHTTPHeaderField: "X-Vary")
    for request in [
      URLRequest(url: server.url("/a?two")), URLRequest(url: otherServer.url("/a?one")), header,
    ] {
      resource.change { ($0.body, $0.mostBytes) = (.pattern(300_000), 100_000) }
      #expect(await queue.run(download(server, "/a?one")).isFailure)
      #expect(directory.names.sorted() == ["file.part", "file.part-tag"])
      resource.change { ($0.body, $0.mostBytes) = (other.body, .max) }
      let second = NetworkDownloadProcedure(
        session: session, request: request, to: file, resuming: true)
      queue.add(second)
      #expect(try await second.value.statusCode == 200)
      #expect(try Data(contentsOf: file) == other.body && directory.names == ["file"])
      try FileManager.default.removeItem(at: file)
    }
  }

  @Test("I4: the checksum of a request differs with all that a server may choose by")
  func identities() throws {
    func request(
      _ url: String, _ method: String = "GET", _ header: [String: String] = [:]
    ) throws -> URLRequest {
      var request = URLRequest(url: try #require(URL(string: url)))
      request.httpMethod = method
      for (name, value) in header { request.setValue(value, forHTTPHeaderField: name) }
      return request
    }
    let requests = try [
      request("http://h/a"), request("https://h/a"), request("http://h:81/a"),
      request("http://i/a"), request("http://h/a?secret"), request("http://h/a?other"),
      request("http://h/a", "POST"), request("http://h/a", "GET", ["X-A": "1"]),
      request("http://h/a", "GET", ["X-A": "2"]), request("http://h/a", "GET", ["X-B": "1"]),
      request("http://h/a", "GET", ["Authorization": "Bearer secret"]),
    ]
    let identities = requests.map { ResumableFile.identity(of: $0) }
    #expect(Set(identities).count == requests.count)
    #expect(identities.allSatisfy { $0.count <= 32 && $0.allSatisfy(\.isHexDigit) })
    // What a session sends along counts, and names have no case.
    let plain = try request("http://h/a")
    #expect(
      ResumableFile.identity(of: plain, adding: ["x-a": "1"])
        == ResumableFile.identity(of: try request("http://h/a", "GET", ["X-A": "1"])))
    // It stays: another process has to find it again.
    #expect(identities[0] == "ee10949808cda5726cfa3c5ff63cd21b")
  }

  @Test("I4: a server that sends a part of something else is not believed")
  func wrongPart() async throws {
    let resource = Resource(300_000, cutAfter: 100_000)
    let server = try resource.serve()
    defer { server.stop() }
    #expect(await queue.run(download(server)).isFailure)
    resource.change { state in
      (state.body, state.mostBytes) = (.pattern(300_000, factor: 11), .max)
      (state.header, state.ignoresMarks) = (["ETag: \"two\""], true)
    }
    let wrong = await queue.run(download(server))
    #expect((wrong.errors.first as? URLError)?.code == .badServerResponse)
    #expect(directory.names == [])
    let whole = download(server)
    queue.add(whole)
    #expect(try await whole.value.statusCode == 200)
    #expect(try Data(contentsOf: file) == resource.body)
  }

  @Test("I4: a part that is longer than the whole is an error, and the next download begins anew")
  func tooLong() async throws {
    let resource = Resource(300_000, cutAfter: 200_000)
    let server = try resource.serve()
    defer { server.stop() }
    #expect(await queue.run(download(server)).isFailure)
    resource.change { $0.body = .pattern(1_000, factor: 11) }
    #expect((await queue.run(download(server)).errors.first as? NetworkError)?.statusCode == 416)
    #expect(directory.names == [])
  }

  @Test("I4: a download asks for one byte when all had come before the program ended")
  func complete() async throws {
    let resource = Resource(1_000)
    let server = try resource.serve()
    defer { server.stop() }
    try resource.body.write(to: file.appendingPathExtension("part"))
    let identity = ResumableFile.identity(of: URLRequest(url: server.url("/a?secret")))
    try Data("\(identity)\n\"one\"".utf8).write(to: file.appendingPathExtension("part-tag"))
    queue.add(download(server))
    await queue.waitUntilAllFinished()
    #expect(resource.ranges == ["bytes=999-"] && directory.names == ["file"])
    #expect(try Data(contentsOf: file) == resource.body)
  }

  @Test(
    "I4: without a mark that names one version, nothing is kept, and nothing is asked for",
    arguments: [
      [], ["ETag: W/\"one\""], ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
      [
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 08:49:37 GMT",
      ], ["ETag: \"one\"", "Content-Encoding: x-own"],
    ])
  func withoutMark(_ header: [String]) async throws {
    let resource = Resource(300_000, cutAfter: 100_000)
    resource.change { $0.header = header }
    let server = try resource.serve()
    defer { server.stop() }
    for _ in 0..<2 { #expect(await queue.run(download(server)).isFailure) }
    #expect(resource.ranges == [nil, nil] && directory.names == [])
  }

  @Test("I4: a date of change marks a version unless it was just now")
  func date() async throws {
    let resource = Resource(300_000, cutAfter: 200_000)
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    resource.change {
      $0.header = ["Last-Modified: \(date)", "Date: Sun, 06 Nov 1994 08:49:38 GMT"]
      $0.ignoresMarks = true
    }
    let server = try resource.serve()
    defer { server.stop() }
    #expect(await queue.run(download(server)).isFailure)
    #expect(await queue.run(download(server)).isSuccess)
    #expect(resource.ranges == [nil, "bytes=199999-"] && resource.marks == [nil, date])
    #expect(try Data(contentsOf: file) == resource.body)
  }

  @Test("I4: one download at a time has the part; a request with its own range is sent unchanged")
  func locked() async throws {
    let gate = Gate()
    let server = try LoopbackServer { request, connection in
      guard request.header["range"] == nil else { return connection.send(body: "own") }
      connection.sendHead(length: 3)
      gate.block()
      connection.send(Data("all".utf8))
    }
    defer { server.stop() }
    let first = download(server)
    queue.add(first)
    #expect(await eventually { server.requests.value != 0 })
    let second = await queue.run(download(server))
    #expect((second.errors.first as? CocoaError)?.code == .fileLocking)
    var request = URLRequest(url: server.url("/a"))
    request.setValue("bytes=0-2", forHTTPHeaderField: "Range")
    let other = directory.url.appending(path: "other")
    let own = NetworkDownloadProcedure(
      session: session, request: request, to: other, resuming: true)
    #expect(await queue.run(own).isSuccess)
    gate.open()
    #expect(await first.waitUntilFinished() == .succeeded)
    #expect(directory.names.sorted() == ["file", "other"])
  }

  #if os(Linux)
    @Test("I4: a process that another thread is just starting does not keep the part locked")
    func startedMeanwhile() throws {
      let request = URLRequest(url: try #require(URL(string: "http://localhost/a")))
      let first = try ResumableFile(of: request, for: file)
      // As a child has it, until it executes its program.
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      let own = try #require(
        descriptors.first { descriptor in
          let path = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(descriptor)")
          return path == file.path + ".part"
        }.flatMap(Int32.init))
      let copy = dup(own)
      defer { close(copy) }
      #expect(throws: CocoaError.self) { try ResumableFile(of: request, for: file) }
      first.discard(after: URLError(.cancelled))
      try ResumableFile(of: request, for: file).discard(after: URLError(.cancelled))
      #expect(directory.names == [])
    }
  #endif

  @Test("I4: a part that is a symbolic link is an error at once", arguments: [false, true])
  func linkedPart(isDangling: Bool) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let other = directory.url.appending(path: "other")
    if !isDangling { try Data("other".utf8).write(to: other) }
    let part = file.appendingPathExtension("part")
    try FileManager.default.createSymbolicLink(
      atPath: part.path, withDestinationPath: other.path)
    let error = await queue.run(download(server)).errors.first as? CocoaError
    #expect(error?.filePath == part.path && server.requests.value == 0)
    #expect(error?.underlying as? POSIXError == POSIXError(.ELOOP))
    #expect(directory.names.sorted() == (isDangling ? ["file.part"] : ["file.part", "other"]))
  }

  @Test("I4: a download whose part was removed fails, and leaves the next one's part alone")
  func removedPart() async throws {
    let body = Data.pattern(1_000)
    let (asked, gates) = (Counter(), [Gate(), Gate()])
    let server = try LoopbackServer { _, connection in
      let gate = gates[asked.increment() - 1]
      connection.sendHead(length: body.count, ["ETag: \"one\""])
      connection.send(body.prefix(500))
      gate.block()
      connection.send(body.suffix(500))
    }
    defer { server.stop() }
    let part = file.appendingPathExtension("part")
    func hasHalf() -> Bool { (try? Data(contentsOf: part).count) == 500 }
    try Data("before".utf8).write(to: file)
    let first = download(server)
    queue.add(first)
    #expect(await eventually { hasHalf() })
    try FileManager.default.removeItem(at: part)
    try FileManager.default.removeItem(at: file.appendingPathExtension("part-tag"))
    let second = download(server)
    queue.add(second)
    #expect(await eventually { hasHalf() })
    gates[0].open()
    let error = await first.waitUntilFinished().errors.first as? CocoaError
    #expect(error?.underlying as? POSIXError == POSIXError(.ENOENT))
    #expect(try String(contentsOf: file, encoding: .utf8) == "before")
    #expect(directory.names.sorted() == ["file", "file.part", "file.part-tag"])
    gates[1].open()
    #expect(await second.waitUntilFinished() == .succeeded)
    #expect(try Data(contentsOf: file) == body && directory.names == ["file"])
  }

  @Test(
    "I4: twelve of twelve downloads come within six attempts from a server that cuts each connection"
  )
  func twelve() async throws {
    let count = Rounds.size(50_000_000, otherwise: 1_000_000)
    let resource = Resource(count, cutAfter: count / 5)
    let server = try resource.serve()
    defer { server.stop() }
    var resilience = NetworkResilience()
    (resilience.maximumNumberOfAttempts, resilience.backoffStrategy) = (6, .immediate)
    let fetches = (0..<12).map { number in
      let file = directory.url.appending(path: "\(number)")
      return NetworkProcedure(resilience: resilience) {
        NetworkDownloadProcedure(session: session, url: server.url("/a"), to: file, resuming: true)
      }
    }
    queue.add(fetches)
    for fetch in fetches {
      let file = try await fetch.value.payload
      #expect(try Data(contentsOf: file) == resource.body)
    }
    #expect(directory.names.count == 12)
  }

  @Test("I4: a response says which part of the resource it brings")
  func contentRange() throws {
    func range(_ text: String, status: Int = 206) throws -> [Int64?]? {
      let response = try #require(
        HTTPURLResponse(
          url: file, statusCode: status, httpVersion: nil, headerFields: ["Content-Range": text]))
      return ContentRange(of: response).map { [$0.start, $0.total] }
    }
    #expect(try range("bytes 10-19/20") == [10, 20])
    #expect(try range("Bytes 0-0/*") == [0, nil])
    for text in [
      "", "bytes", "bytes */20", "bytes 10-19", "bytes 19-10/20", "bytes 10-20/20", "items 1-2/3",
      "bytes -1-2/3", "bytes 1-2/x", "bytes 1-99999999999999999999/*",
    ] { #expect(try range(text) == nil, "\(text)") }
    #expect(try range("bytes 10-19/20", status: 200) == nil)
  }

  // MARK: A sink of one's own

  private final class Checksum: BodySink {
    private let discarded: Counter
    private var sum = 0

    init(_ discarded: Counter) { self.discarded = discarded }

    func begin(_ response: HTTPURLResponse) { sum = response.statusCode }
    func receive(_ piece: Data) { sum = piece.reduce(sum) { $0 + Int($1) } }
    func end() -> Int { sum }
    func discard(after error: any Error) { if error is URLError { discarded.increment() } }
  }

  @Test("I4: a body goes to a sink of one's own, piece by piece; what that makes is the payload")
  func ownSink() async throws {
    let resource = Resource(200_000)
    let server = try resource.serve()
    defer { server.stop() }
    let discarded = Counter()
    let sum = NetworkStreamProcedure(session: session, url: server.url("/a")) {
      Checksum(discarded)
    }
    queue.add(sum)
    #expect(try await sum.value.payload == resource.body.reduce(200) { $0 + Int($1) })
    resource.change { $0.mostBytes = 1_000 }
    let broken = NetworkStreamProcedure(
      session: session, request: URLRequest(url: server.url("/a"))
    ) { Checksum(discarded) }
    #expect(await queue.run(broken).isFailure && discarded.value == 1)
  }
}
