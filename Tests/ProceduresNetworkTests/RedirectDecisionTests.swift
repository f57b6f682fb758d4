import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A redirect of a request that has a body, or credentials.
@Suite("Redirects of bodies and credentials", .hangLimit)
struct RedirectDecisionTests {
  private let queue = ProcedureQueue(name: "redirects")
  private let session = URLSession(configuration: .patient)

  private static func decide(
    _ status: Int, _ method: String = "GET", to location: String = "/new",
    from place: String = "http://a.example/old?x=1", fields: [String: String] = [:]
  ) -> Redirect? {
    var request = URLRequest(url: URL(string: place)!)
    request.httpMethod = method
    request.httpBody = method == "GET" || method == "HEAD" ? nil : Data("body".utf8)
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    let response = HTTPURLResponse(
      url: request.url!, statusCode: status, httpVersion: nil,
      headerFields: ["Location": location])!
    return Redirect(after: response, to: request)
  }

  @Test("I4: the status and the method of a redirect decide about the next method and its body")
  func methods() {
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
      for status in [301, 302, 303, 307, 308] {
        let redirect = Self.decide(status, method)
        let becomesGet =
          status == 303 ? !["GET", "HEAD"].contains(method) : method == "POST" && status <= 302
        #expect(
          redirect?.request.httpMethod == (becomesGet ? "GET" : method), "\(status) \(method)")
        #expect(redirect?.keepsBody == !becomesGet, "\(status) \(method)")
        let hasBody = !["GET", "HEAD"].contains(method) && !becomesGet
        #expect((redirect?.request.httpBody != nil) == hasBody, "\(status) \(method)")
      }
    }
    for status in [200, 201, 300, 304, 305, 306, 399] { #expect(Self.decide(status) == nil) }
  }

  @Test(
    "I4: a redirect leads to an address of HTTP, in the words of its base; any other is a response")
  func places() {
    for (location, place) in [
      ("/new", "http://a.example/new"), ("new?y=2", "http://a.example/new?y=2"),
      ("?y=2", "http://a.example/old?y=2"), ("//b.example/c", "http://b.example/c"),
      ("https://b.example:8443", "https://b.example:8443"),
    ] {
      #expect(Self.decide(302, to: location)?.request.url?.absoluteString == place)
    }
    for location in [
      "", "file:///etc/hostname", "ftp://b/x", "javascript:a", "data:,hi", "http://",
    ] {
      #expect(Self.decide(302, to: location) == nil, "\(location)")
    }
  }

  @Test("I4: credentials go to the origin that they were meant for, and to no other")
  func credentials() {
    let secrets = [
      "Authorization": "a", "cookie": "b", "Proxy-Authorization": "c", "Host": "a.example",
    ]
    let fields = secrets.merging(["X-App": "d"]) { one, _ in one }
    func kept(_ location: String, from place: String = "http://a.example/old") -> Set<String> {
      let redirect = Self.decide(307, "PUT", to: location, from: place, fields: fields)
      return Set((redirect?.request.allHTTPHeaderFields ?? [:]).keys.map { $0.lowercased() })
    }
    let all = Set(fields.keys.map { $0.lowercased() })
    for location in ["/new", "http://a.example/new", "HTTP://A.Example:80/new"] {
      #expect(kept(location) == all, "\(location)")
    }
    for location in [
      "http://b.example/", "http://a.example:81/", "https://a.example/", "//sub.a.example/",
      "http://a.example@b.example/",
    ] {
      #expect(kept(location) == ["x-app"], "\(location)")
    }
    #expect(kept("https://a.example:443/new", from: "https://a.example/old") == all)
  }

  @Test("I4: the header of a body goes with the body")
  func bodyFields() {
    let fields = [
      "Content-Type": "a", "Content-Encoding": "b", "Transfer-Encoding": "c", "X-A": "d",
    ]
    #expect(
      Self.decide(303, "POST", fields: fields)?.request.allHTTPHeaderFields?.keys.sorted() == [
        "X-A"
      ])
    #expect(Self.decide(308, "POST", fields: fields)?.request.allHTTPHeaderFields?.count == 4)
  }

  /// Notes what arrives. A path `/307` is a redirect with that status, to the place that `next`
  /// returns.
  private static func server(
    _ notes: Recorder<String>, next: @escaping @Sendable () -> String
  ) throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      let secret = request.header["authorization"] ?? "none"
      let text = "\(request.method) \(request.path) \(request.body.count) \(secret)"
      notes.note(text)
      if let status = Int(request.path.dropFirst()) {
        connection.send(status: "\(status) Moved", body: "moved", header: "location: \(next())")
      } else {
        connection.send(body: text)
      }
    }
  }

  @Test("I4: an upload arrives whole at its new place, from memory and from a file")
  func uploads() async throws {
    let notes = Recorder<String>()
    let server = try Self.server(notes) { "/new" }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    let body = Data(repeating: 7, count: 300_000)
    try body.write(to: file)
    var expected: [String] = []
    for payload in [UploadBody.data(body), .file(file)] {
      for (method, status) in [
        ("PUT", 301), ("PATCH", 302), ("DELETE", 302), ("POST", 307), ("PUT", 308),
      ] {
        var request = URLRequest(url: server.url("/\(status)"))
        request.httpMethod = method
        request.setValue("secret", forHTTPHeaderField: "Authorization")
        let send = NetworkUploadProcedure(session: session, request: request, body: payload)
        queue.add(send)
        let text = String(decoding: try await send.value.payload, as: UTF8.self)
        #expect(text == "\(method) /new 300000 secret")
        expected += ["\(method) /\(status) 300000 secret", text]
      }
    }
    #expect(notes.events == expected)
    var post = URLRequest(url: server.url("/303"))
    post.httpMethod = "POST"
    let send = NetworkUploadProcedure(session: session, request: post, body: .data(body))
    queue.add(send)
    #expect(String(decoding: try await send.value.payload, as: UTF8.self) == "GET /new 0 none")
  }

  @Test("I4: another host, and another port, gets the body, and no credentials")
  func otherOrigin() async throws {
    let notes = Recorder<String>()
    let other = try Self.server(notes) { "/new" }
    defer { other.stop() }
    let places = Recorder<String>()
    let server = try Self.server(notes) { places.events.last ?? "" }
    defer { server.stop() }
    for place in [other.url("/new").absoluteString, "http://localhost:\(server.port)/new"] {
      places.note(place)
      var request = URLRequest(url: server.url("/307"))
      request.httpMethod = "POST"
      request.setValue("secret", forHTTPHeaderField: "Authorization")
      let send = NetworkUploadProcedure(
        session: session, request: request, body: .data(Data("pay".utf8)))
      queue.add(send)
      #expect(String(decoding: try await send.value.payload, as: UTF8.self) == "POST /new 3 none")
    }
  }

  @Test("I4: a stream cannot be sent again: a redirect of it is an error that names the new place")
  func streams() async throws {
    let notes = Recorder<String>()
    let server = try Self.server(notes) { "/new" }
    defer { server.stop() }
    var request = URLRequest(url: server.url("/307"))
    request.httpMethod = "POST"
    request.httpBodyStream = InputStream(data: Data("pay".utf8))
    let send = NetworkDataProcedure(session: session, request: request)
    queue.add(send)
    let error = await #expect(throws: NetworkError.self) { try await send.value }
    #expect(error?.code == .bodyNotRepeatable)
    #expect("\(error!)".hasPrefix("POST 127.0.0.1:\(server.port)/new cannot be sent"))
    #expect(notes.events == ["POST /307 3 none"])
  }

  @Test("I4: more than 20 redirects are an error")
  func circles() async throws {
    let notes = Recorder<String>()
    let server = try Self.server(notes) { "/302" }
    defer { server.stop() }
    let fetch = NetworkDataProcedure(session: session, url: server.url("/302"))
    let error = await queue.run(fetch).errors.first as? URLError
    #expect(error?.code == .httpTooManyRedirects && notes.events.count == 21)
  }

  #if canImport(FoundationNetworking)
    @Test(
      "I4: a credential goes with the whole body, and not along with a redirect to another origin")
    func challengeThenRedirect() async throws {
      let notes = Recorder<String>()
      let other = try Self.server(notes) { "/new" }
      defer { other.stop() }
      let server = try LoopbackServer { request, connection in
        notes.note("\(request.method) \(request.path) \(request.body.count)")
        if request.header["authorization"] == "Basic dTpw" {
          connection.send(
            status: "307 Moved", header: "Location: \(other.url("/new").absoluteString)")
        } else {
          connection.send(
            status: "401 Unauthorized", header: "WWW-Authenticate: Basic realm=\"a\"")
        }
      }
      defer { server.stop() }
      let session = URLSession(
        configuration: .patient, delegate: SessionDelegate(), delegateQueue: nil)
      var request = URLRequest(url: server.url("/old"))
      request.httpMethod = "PUT"
      let send = NetworkUploadProcedure(
        session: session, request: request, body: .data(Data("pay".utf8)))
      queue.add(send)
      _ = try await send.value
      #expect(notes.events == ["PUT /old 3", "PUT /old 3", "PUT /new 3 none"])
    }
  #endif
}
