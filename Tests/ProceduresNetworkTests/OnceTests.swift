import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A `NetworkProcedure` whose order the server has taken, or turned away.
@Suite("Nothing is tried again that the server may have acted on", .hangLimit)
struct OnceTests {
  private let queue = ProcedureQueue(name: "orders")
  private let session = URLSession(configuration: .patient)
  private let notes = Recorder<String>()

  private var resilience: NetworkResilience {
    var resilience = NetworkResilience()
    resilience.backoffStrategy = .immediate
    return resilience
  }

  /// Notes method and path of each request before it is answered.
  private func server(_ answer: @escaping LoopbackServer.Answer) throws -> LoopbackServer {
    try LoopbackServer { [notes] request, connection in
      notes.note("\(request.method) \(request.path)")
      answer(request, connection)
    }
  }

  private func order(_ url: URL) -> NetworkUploadProcedure {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    return NetworkUploadProcedure(
      session: session, request: request, body: .data(Data("pay 100".utf8)))
  }

  // MARK: Refused addresses

  @Test(
    "I4: a POST that a host's second address took is not sent again",
    arguments: [Data(), Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut".utf8)])
  func secondAddress(answer: Data) async throws {
    let server = try server { _, connection in
      connection.send(answer)
      connection.end()
    }
    defer { server.stop() }
    // Where `localhost` has several addresses, nobody listens at the others.
    let url = try #require(URL(string: "http://localhost:\(server.port)/order"))
    let send = NetworkProcedure(resilience: resilience) { order(url) }
    let code = (await queue.run(send).errors.first as? URLError)?.code
    #expect(code == (answer.isEmpty ? .badServerResponse : .networkConnectionLost))
    #expect(notes.events == ["POST /order"])
  }

  #if canImport(FoundationNetworking)
    @Test(
      "I4: only words of a failed connect prove that there was no connection",
      arguments: [
        ("Empty reply from server", URLError.Code.badServerResponse),
        ("transfer closed with 500 bytes remaining to read", .networkConnectionLost),
        ("Recv failure: Connection reset by peer", .networkConnectionLost),
        ("Failed writing header", .cannotParseResponse),
        ("Connection timed out after 300000 milliseconds", .timedOut),
        ("words of a later libcurl", .unknown),
        ("Failed to connect to a.example port 1: Connection refused", .cannotConnectToHost),
        ("Could not connect to server", .cannotConnectToHost),
        ("Couldn't connect to server", .cannotConnectToHost),
      ])
    func words(text: String, code: URLError.Code) {
      let error = URLError(.cannotConnectToHost, userInfo: [NSLocalizedDescriptionKey: text])
      #expect((SessionError.clarified(error) as? URLError)?.code == code)
      // A protocol of the user's session has no words of libcurl.
      let other = URLError(.cannotConnectToHost)
      #expect((SessionError.clarified(other) as? URLError)?.code == .cannotConnectToHost)
    }
  #endif

  @Test("I4: a POST that nobody received is tried again")
  func refused() async throws {
    let server = try server { _, connection in connection.send(body: "late") }
    let url = server.url("/order")
    server.stop()
    let send = NetworkProcedure(resilience: resilience) { order(url) }
    let error = await queue.run(send).errors.first as? URLError
    #expect(error?.code == .cannotConnectToHost && send.count == 3 && notes.events.isEmpty)
  }

  // MARK: Redirects

  @Test(
    "I4: a POST that was redirected is not sent again, and the error names the request that failed",
    arguments: ["301 Moved", "302 Found", "303 See Other"], ["503 Busy", "429 Slow", "500 Broken"])
  func redirected(by redirect: String, then failure: String) async throws {
    let server = try server { request, connection in
      if request.path == "/order" {
        connection.send(status: redirect, header: "Location: /thanks?secret")
      } else {
        connection.send(status: failure, header: "Retry-After: 0")
      }
    }
    defer { server.stop() }
    let send = NetworkProcedure(resilience: resilience) { order(server.url("/order")) }
    let error = await queue.run(send).errors.first as? NetworkError
    #expect(notes.events == ["POST /order", "GET /thanks?secret"])
    #expect(error?.request.httpMethod == "GET" && error?.request.url?.path() == "/thanks")
    #expect(error.map { "\($0)" }?.hasPrefix("GET 127.0.0.1:\(server.port)/thanks was") == true)
  }

  @Test("I4: a POST that was redirected to nobody is not sent again; a GET is")
  func redirectedToNobody() async throws {
    let gone = try LoopbackServer()
    gone.stop()
    let place = "Location: \(gone.url("/"))"
    let server = try server { _, connection in connection.send(status: "303 S", header: place) }
    defer { server.stop() }
    let send = NetworkProcedure(resilience: resilience) { order(server.url("/order")) }
    let error = await queue.run(send).errors.first as? URLError
    #expect(error?.code == .cannotConnectToHost && notes.events == ["POST /order"])
    let fetch = NetworkProcedure(resilience: resilience) {
      NetworkDataProcedure(session: session, url: server.url("/list"))
    }
    #expect(await queue.run(fetch).isFailure)
    #expect(fetch.count == 3)
  }

  // MARK: Sinks

  /// Fails with an error that another request could have.
  private final class FailingSink: BodySink {
    private let error: any Error

    init(_ error: any Error) { self.error = error }
    func begin(_ response: HTTPURLResponse) {}
    func receive(_ piece: Data) throws { throw error }
    func end() {}
    func discard(after error: any Error) {}
  }

  @Test("I4: a POST that was answered is not sent again because of an error of its sink")
  func sinks() async throws {
    let server = try server { _, connection in connection.send(body: "taken") }
    defer { server.stop() }
    var order = URLRequest(url: server.url("/order"))
    order.httpMethod = "POST"
    let other = URLRequest(url: URL(string: "http://store.example/")!)
    let errors: [any Error] = [
      URLError(.cannotConnectToHost), URLError(.notConnectedToInternet),
      NetworkError(.unacceptableStatus, request: other, status: 503),
      NetworkError(.unacceptableStatus, request: other, status: 429),
    ]
    for (count, error) in errors.enumerated() {
      let send = NetworkProcedure(resilience: resilience) { [order] in
        NetworkStreamProcedure(session: session, request: order) { FailingSink(error) }
      }
      #expect(await queue.run(send).isFailure)
      #expect(send.count == 1 && notes.events.count == count + 1)
    }
  }

  // MARK: Groups

  @Test("I4: a POST inside a group is sent again only if the server cannot have acted on it")
  func groups() async throws {
    let server = try server { request, connection in
      switch request.path {
      case "/broken": connection.send(status: "500 Broken")
      case "/busy": connection.send(status: "503 Busy")
      case "/reset": connection.reset()
      default: connection.send(body: "taken")
      }
    }
    defer { server.stop() }
    for (path, count) in [("/broken", 1), ("/busy", 3), ("/reset", 1)] {
      let send = NetworkProcedure(resilience: resilience) {
        ComposedProcedure(ComposedProcedure(order(server.url(path))))
      }
      #expect(await queue.run(send).isFailure)
      #expect(send.count == count && notes.events.filter { $0.contains(path) }.count == count)
      let fetch = NetworkProcedure(resilience: resilience) {
        ComposedProcedure(NetworkDataProcedure(session: session, url: server.url(path)))
      }
      #expect(await queue.run(fetch).isFailure)
      #expect(fetch.count == 3)
    }
    // The order succeeds, and a request beside it fails.
    var asked = resilience
    for (repeats, count) in [(false, 1), (true, 3)] {
      asked.repeatsAnyMethod = repeats
      let both = NetworkProcedure(resilience: asked) {
        let (first, second) = (
          order(server.url("/taken")),
          NetworkDataProcedure(session: session, url: server.url("/broken"))
        )
        second.add(dependency: first)
        // It ends like the second.
        let attempt = ComposedProcedure(second)
        attempt.add(child: first)
        return attempt
      }
      #expect(await queue.run(both).isFailure)
      #expect(both.count == count)
    }
  }

  @Test("I4: a POST inside a group whose attempt takes too long is not sent again")
  func groupThatTakesTooLong() async throws {
    let arrived = Gate()
    let server = try server { _, connection in
      arrived.open()
      connection.waitForEnd()
    }
    defer { server.stop() }
    let clock = TestClock()
    var resilience = resilience
    resilience.requestTimeout = .seconds(8)
    let send = NetworkProcedure(resilience: resilience) {
      ComposedProcedure(order(server.url("/order")))
    }
    ProcedureQueue(clock: clock.clock).add(send)
    await arrived.wait()
    clock.advance(by: .seconds(8))
    let error = await send.waitUntilFinished().errors.first as? ProcedureError
    #expect(error?.code == .timedOut && notes.events == ["POST /order"])
  }

  @Test("I4: an attempt of an unknown type is repeated by the method that its error names")
  func unknown() {
    var post = URLRequest(url: URL(string: "http://a.example/")!)
    post.httpMethod = "POST"
    for (status, isRepeated) in [(500, false), (503, true)] {
      let error = NetworkError(.unacceptableStatus, request: post, status: status)
      let decision = resilience.decision(after: [error], method: nil)
      #expect((decision != .giveUp) == isRepeated)
    }
  }
}
