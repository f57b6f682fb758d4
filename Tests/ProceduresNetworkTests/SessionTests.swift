import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("What is left to the session", .hangLimit)
struct SessionTests {
  private let queue = ProcedureQueue(name: "network")

  private func session(_ delegate: SessionDelegate? = nil) -> URLSession {
    URLSession(configuration: .patient, delegate: delegate, delegateQueue: nil)
  }

  private func redirecting() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      if request.path == "/old" {
        connection.send(status: "302 Found", body: "moved", header: "Location: /new")
      } else {
        connection.send(body: "new")
      }
    }
  }

  @Test("I4: a redirect is followed; the session's delegate is asked, on its queue, and may refuse")
  func redirects() async throws {
    let server = try redirecting()
    defer { server.stop() }
    let plain = NetworkDataProcedure(session: session(), url: server.url("/old"))
    queue.add(plain)
    #expect(try await plain.value.payload == Data("new".utf8))
    #expect(try await plain.value.response.url?.path() == "/new")

    let delegate = SessionDelegate()
    let asked = NetworkDataProcedure(session: session(delegate), url: server.url("/old"))
    queue.add(asked)
    #expect(try await asked.value.payload == Data("new".utf8))
    #expect(delegate.notes.events == ["redirect 302 on its queue: true"])

    let refusing = NetworkDataProcedure(
      session: session(SessionDelegate(followsRedirects: false)), url: server.url("/old"),
      accepting: [302])
    queue.add(refusing)
    #expect(try await refusing.value.payload == Data("moved".utf8))
  }

  private func guarded(_ scheme: String = "Basic realm=\"a\"") throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      if request.header["authorization"] == "Basic dTpw" {
        connection.send(body: "open")
      } else {
        connection.send(
          status: "401 Unauthorized", body: "closed", header: "WWW-Authenticate: \(scheme)")
      }
    }
  }

  @Test("I4: the session's delegate is asked for credentials, on its queue; then the body comes")
  func credentials() async throws {
    let server = try guarded()
    defer { server.stop() }
    let delegate = SessionDelegate()
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    let download = NetworkDownloadProcedure(
      session: session(delegate), url: server.url("/"), to: file)
    queue.add(download)
    #expect(try await Data(contentsOf: download.value.payload) == Data("open".utf8))
    #expect(delegate.notes.events == ["challenge on its queue: true"])
  }

  @Test(
    "I4: a challenge that nothing answers is a response with its status, and not a wait without end"
  )
  func unanswered() async throws {
    let server = try guarded()
    defer { server.stop() }
    for delegate in [nil, SessionDelegate(answering: .nothing)] {
      let fetch = NetworkDataProcedure(session: session(delegate), url: server.url("/"))
      let error = await queue.run(fetch).errors.first as? NetworkError
      #expect(error?.statusCode == 401 && error?.body == Data("closed".utf8))
    }
    let accepting = NetworkDataProcedure(
      session: session(), url: server.url("/"), accepting: [401])
    queue.add(accepting)
    #expect(try await accepting.value.payload == Data("closed".utf8))
    let cancelling = NetworkDataProcedure(
      session: session(SessionDelegate(answering: .cancel)), url: server.url("/"))
    let outcome = await queue.run(cancelling)
    // The delegate cancelled the task, and the procedure was not.
    #expect(outcome.isFailure && (outcome.errors.first as? URLError)?.code == .cancelled)
  }

  #if canImport(FoundationNetworking)
    @Test("I4: a scheme that Foundation does not know does not stop the program")
    func digest() async throws {
      let server = try guarded("Digest realm=\"a\", nonce=\"b\"")
      defer { server.stop() }
      let fetch = NetworkDataProcedure(
        session: session(SessionDelegate()), url: server.url("/"))
      let error = await queue.run(fetch).errors.first as? NetworkError
      #expect(error?.statusCode == 401)
    }
  #endif

  @Test("I4: the session's configuration is kept to: header, cookies, stubs of protocols")
  func configuration() async throws {
    let server = try LoopbackServer { request, connection in
      let cookie = request.header["cookie"] ?? "none"
      connection.send(
        body: "\(request.header["x-app"] ?? "") \(cookie)", header: "Set-Cookie: c=1; Path=/")
    }
    defer { server.stop() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-App": "a"]
    let session = URLSession(configuration: configuration)
    var texts: [String] = []
    for _ in 0..<2 {
      let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
      queue.add(fetch)
      texts.append(String(decoding: try await fetch.value.payload, as: UTF8.self))
    }
    #expect(texts == ["a none", "a c=1"])
  }

  #if canImport(FoundationNetworking)
    @Test("I4: a body is asked for as it is, unless a header of the user's says otherwise")
    func plainBodies() async throws {
      let server = try LoopbackServer { request, connection in
        connection.send(body: request.header["accept-encoding"] ?? "none")
      }
      defer { server.stop() }
      func asked(_ request: URLRequest, by session: URLSession) async throws -> String {
        let fetch = NetworkDataProcedure(session: session, request: request)
        queue.add(fetch)
        return String(decoding: try await fetch.value.payload, as: UTF8.self)
      }
      var request = URLRequest(url: server.url("/"))
      var post = request
      post.httpMethod = "POST"
      for request in [request, post] {
        #expect(try await asked(request, by: session()) == "identity")
        let configuration = URLSessionConfiguration.patient
        configuration.httpAdditionalHeaders = ["accept-encoding": "gzip", "X-A": "b"]
        let gzip = URLSession(configuration: configuration)
        #expect(try await asked(request, by: gzip) == "gzip")
      }
      request.setValue("deflate", forHTTPHeaderField: "Accept-Encoding")
      #expect(try await asked(request, by: session()) == "deflate")
    }
  #endif

  @Test("I4: a compressed body comes as what it was; its length says nothing of its progress")
  func compressed() async throws {
    // 20,000 times the letter y.
    let body = try #require(
      Data(
        base64Encoded:
          "H4sIAAAAAAACA+3BMQEAAADCoNxrbw0PoAAAAAAAAAAAAAAAAAAAAAAAAAB4ME4qnyogTgAA"))
    let server = try LoopbackServer { _, connection in
      connection.sendHead(length: body.count, ["Content-Encoding: gzip"])
      connection.send(body)
    }
    defer { server.stop() }
    let fetch = NetworkDataProcedure(session: session(), url: server.url("/"))
    queue.add(fetch)
    let response = try await fetch.value
    #expect(response.payload == Data(repeating: UInt8(ascii: "y"), count: 20_000))
    for (encoding, fraction) in [("gzip", nil), ("Identity", 1.0)] {
      let head = try #require(
        HTTPURLResponse(
          url: server.url("/"), statusCode: 200, httpVersion: nil,
          headerFields: ["Content-Encoding": encoding, "Content-Length": "\(body.count)"]))
      var machine = TransferStateMachine(
        request: URLRequest(url: server.url("/")), acceptedStatusCodes: [200])
      _ = machine.take(head as URLResponse)
      _ = machine.take(Data(count: body.count))
      #expect(machine.fractionReceived == fraction)
    }
  }
}
