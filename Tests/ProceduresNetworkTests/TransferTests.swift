import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Network procedures", .hangLimit)
struct TransferTests {
  private let queue = ProcedureQueue(name: "network")
  private let session = URLSession(configuration: .patient)

  private func serving(_ answer: @escaping LoopbackServer.Answer) throws -> LoopbackServer {
    try LoopbackServer(answer)
  }

  @Test("I4: the request is the input, the response with its body the output")
  func data() async throws {
    let server = try serving { request, connection in
      connection.send(
        status: "201 Created", body: "\(request.method) \(request.header["x-a"] ?? "")",
        header: "X-B: two")
    }
    defer { server.stop() }
    let request = ResultProcedure { [url = server.url("/a")] in
      var request = URLRequest(url: url)
      request.setValue("one", forHTTPHeaderField: "X-A")
      return request
    }
    let fetch = NetworkDataProcedure(session: session).injectResult(from: request)
    let text = TransformProcedure<Data, String> { String(decoding: $0, as: UTF8.self) }
      .injectPayload(fromNetwork: fetch)
    queue.add(request, fetch, text)
    #expect(try await text.value == "GET one")
    let response = try await fetch.value
    #expect(response.statusCode == 201)
    #expect(response.response.value(forHTTPHeaderField: "x-b") == "two")
  }

  @Test("I4: without a request it fails and says that its input is missing")
  func noRequest() async {
    for procedure in [
      NetworkDataProcedure(), NetworkDownloadProcedure(), NetworkUploadProcedure(),
    ] {
      let error = await queue.run(procedure).errors.first as? ProcedureError
      #expect(error?.code == .requirementNotSatisfied)
    }
  }

  @Test("I4: a cancel in flight ends the connection, and is no error of its own")
  func cancel() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let fetch = NetworkDataProcedure(session: session, url: server.url("/silence"))
    queue.add(fetch)
    await server.asked.wait()
    fetch.cancel()
    await server.connectionEnded.wait()
    let outcome = await fetch.waitUntilFinished()
    #expect(outcome == .cancelled([]))
    #expect(fetch.output == nil)
  }

  @Test("I4: a timeout of the procedure ends the transfer, and is the error")
  func timeout() async throws {
    let (server, clock) = (try LoopbackServer(), TestClock())
    defer { server.stop() }
    let fetch = NetworkDataProcedure(session: session, url: server.url("/silence"))
      .timeout(after: .seconds(9))
    ProcedureQueue(clock: clock.clock).add(fetch)
    await server.asked.wait()
    clock.advance(by: .seconds(9))
    await server.connectionEnded.wait()
    let errors = await fetch.waitUntilFinished().errors as? [ProcedureError]
    #expect(errors?.map(\.code) == [.timedOut])
  }

  @Test("I4: a transfer that is cancelled at any moment finishes, and the session is still of use")
  func cancelRaces() async throws {
    let server = try serving { _, connection in
      connection.send(body: String(repeating: "x", count: 100_000))
    }
    defer { server.stop() }
    let rounds = ProcessInfo.processInfo.environment["STRESS"] == nil ? 200 : 1_000
    for round in 0..<rounds {
      let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
      queue.add(fetch)
      for _ in 0..<(round % 100 * 400) { _ = fetch.isCancelled }
      fetch.cancel()
      let outcome = await fetch.waitUntilFinished()
      #expect(outcome == .cancelled([]) || outcome.isSuccess, "round \(round)")
    }
    let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
    queue.add(fetch)
    #expect(try await fetch.value.payload.count == 100_000)
  }

  @Test("I4: a status that is no success is an error with the response and its body")
  func status() async throws {
    let server = try serving { request, connection in
      connection.send(status: "404 Not Found", body: "no \(request.path)")
    }
    defer { server.stop() }
    let url = server.url("/a/b?token=secret")
    let fetch = NetworkDataProcedure(session: session, url: url)
    queue.add(fetch)
    let error = await #expect(throws: NetworkError.self) { try await fetch.value }
    #expect(error?.code == .unacceptableStatus && error?.statusCode == 404)
    #expect(error.map { "\($0.code)" } == "unacceptableStatus")
    #expect(error.map { String(decoding: $0.body, as: UTF8.self) } == "no /a/b?token=secret")
    #expect("\(error!)" == "GET 127.0.0.1:\(server.port)/a/b was answered with status 404")
    #expect(fetch.name == "GET 127.0.0.1/a/b")
    let accepting = NetworkDataProcedure(session: session, url: url, accepting: [404])
    queue.add(accepting)
    #expect(try await accepting.value.statusCode == 404)
  }

  @Test("I4: a failure without a response is the session's error")
  func unreachable() async throws {
    let server = try LoopbackServer()
    let url = server.url("/")
    server.stop()
    let fetch = NetworkDataProcedure(session: session, url: url)
    queue.add(fetch)
    let error = await #expect(throws: URLError.self) { try await fetch.value }
    #expect(error?.code == .cannotConnectToHost)
  }

  @Test("I4: a transfer fails that breaks off in the middle of its body, in memory and to a file")
  func broken() async throws {
    let server = try serving { _, connection in
      connection.sendHead(length: 1_000_000)
      connection.send(Data(count: 400_000))
      connection.end()
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
    let download = NetworkDownloadProcedure(
      session: session, url: server.url("/"), to: directory.url.appending(path: "file"))
    for procedure in [fetch, download] {
      let outcome = await queue.run(procedure)
      #expect(outcome.isFailure && outcome.errors.first is URLError)
    }
    #expect(directory.names == [])
  }

  @Test("I4: a slow answer comes whole, and its progress is seen")
  func slow() async throws {
    let gate = Gate()
    let server = try serving { _, connection in
      connection.sendHead(length: 4_000)
      connection.send(Data(count: 1_000))
      gate.block()
      connection.send(Data(count: 3_000))
    }
    defer { server.stop() }
    let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
    var fractions: [Double] = []
    let updates = fetch.progressUpdates
    queue.add(fetch)
    for await fraction in updates {
      fractions.append(fraction)
      if fraction == 0.25 { gate.open() }
    }
    #expect(try await fetch.value.payload.count == 4_000)
    #expect(fractions.contains(0.25) && fractions.last == 1)
  }

  @Test("I4: a connection is used again")
  func keepAlive() async throws {
    let server = try serving { _, connection in connection.send(body: "x") }
    defer { server.stop() }
    for _ in 0..<5 {
      let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
      queue.add(fetch)
      _ = try await fetch.value
    }
    #expect(server.requests.value == 5 && server.connections.value == 1)
  }

  @Test("I4: many transfers are under way at once on a serial queue, since no thread waits")
  func noThreadWaits() async throws {
    let (entered, all) = (Counter(), Gate())
    let server = try serving { _, connection in
      if entered.increment() == 6 { all.open() }
      all.block()
      connection.send(body: "x")
    }
    defer { server.stop() }
    let queue = ProcedureQueue(underlyingQueue: DispatchQueue(label: "serial"))
    let fetches = (0..<6).map { _ in
      NetworkDataProcedure(session: session, url: server.url("/"))
    }
    queue.add(fetches)
    for fetch in fetches { #expect(try await fetch.value.payload.count == 1) }
  }

  @Test("I4: when it has finished, nothing keeps it or the session alive")
  func memory() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    weak var fetch: NetworkDataProcedure?
    weak var session: URLSession?
    do {
      let mine = URLSession(configuration: .patient)
      let procedure = NetworkDataProcedure(session: mine, url: server.url("/text"))
      (fetch, session) = (procedure, mine)
      #expect(await queue.run(procedure) == .succeeded)
    }
    #expect(await eventually { fetch == nil && session == nil })
  }
}

/// Goes with what is in it.
final class TemporaryDirectory: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? []
  }
}
