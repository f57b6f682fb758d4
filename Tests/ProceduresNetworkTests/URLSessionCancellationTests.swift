import Foundation
import ProceduresNetwork
import ProcedureTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.hangLimit) struct URLSessionCancellationTests {
  private let session = URLSession(configuration: .patient)

  private func load(_ url: URL, _ token: CancellationToken) async -> Result<String, URLError> {
    await withCheckedContinuation { continuation in
      session.data(from: url, cancellationToken: token) { result in
        switch result {
        case .success((let data, _)):
          continuation.resume(returning: .success(String(decoding: data, as: UTF8.self)))
        case .failure(let error):
          // Only the code: the rest names the URL.
          let code = (error as? URLError)?.code ?? .unknown
          continuation.resume(returning: .failure(URLError(code)))
        }
      }
    }
  }

  @Test("a request that is not cancelled is loaded")
  func loads() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let source = CancellationTokenSource()
    for token in [source.token, .never, CancellationTokenSource().token] {
      #expect(try await load(server.url("/text"), token).get() == LoopbackServer.text)
    }
    #expect(server.requests.value == 3 && !source.token.isCompleted)
  }

  @Test("a cancel in flight ends the connection, and the completion gets .cancelled")
  func cancelledInFlight() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let source = CancellationTokenSource()
    async let result = load(server.url("/silence"), source.token)
    await server.asked.wait()
    source.cancel()
    await server.connectionEnded.wait()
    #expect(await result == .failure(URLError(.cancelled)))
  }

  @Test("with a cancelled token nothing is sent, and the completion gets .cancelled")
  func bornCancelled() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = await load(server.url("/silence"), .cancelled)
    #expect(result == .failure(URLError(.cancelled)))
    #expect(!server.asked.isOpen && server.requests.value == 0)
  }

  @Test("a deadline cancels it, as any token does")
  func deadline() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let time = TestClock()
    async let result = load(server.url("/silence"), .timeout(.seconds(5), clock: time.clock))
    await server.asked.wait()
    time.advance(by: .seconds(5))
    #expect(await result == .failure(URLError(.cancelled)))
    await server.connectionEnded.wait()
  }

  @Test(
    "a completion may have three values, a task be registered by hand, and an error be no cancel")
  func otherForms() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = await withCheckedContinuation { continuation in
      session.data(from: server.url("/text"), cancellationToken: .never) { data, _, _ in
        continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) })
      }
    }
    #expect(text == LoopbackServer.text)
    let source = CancellationTokenSource()
    let code = await withCheckedContinuation { continuation in
      let task = session.dataTask(with: server.url("/silence")) { _, _, error in
        continuation.resume(returning: (error as? URLError)?.code)
      }
      source.token.register(task)
      task.resume()
      source.cancel()
    }
    #expect(code == .cancelled)
    let closed = try LoopbackServer()
    let url = closed.url("/text")
    closed.stop()
    let result = await load(url, source.token || .never)
    #expect(throws: URLError.self) { try result.get() }
  }

  private func text(
    _ server: LoopbackServer, _ path: String, _ token: CancellationToken
  ) async throws -> String {
    let (data, response) = try await session.data(
      from: server.url(path), cancellationToken: token)
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    return String(decoding: data, as: UTF8.self)
  }

  @Test("an awaited request returns its data, or throws an error that is no cancel")
  func awaited() async throws {
    let server = try LoopbackServer()
    let source = CancellationTokenSource()
    #expect(try await text(server, "/text", source.token) == LoopbackServer.text)
    #expect(try await text(server, "/text", .never) == LoopbackServer.text)
    server.stop()
    let error = await #expect(throws: URLError.self) {
      try await text(server, "/text", source.token)
    }
    #expect(error?.code != .cancelled && !source.token.isCompleted)
  }

  @Test("the token's cancel ends an awaited request, which throws URLError.cancelled")
  func awaitedTokenCancel() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let source = CancellationTokenSource()
    let task = Task { try await text(server, "/silence", source.token) }
    await server.asked.wait()
    source.cancel()
    await server.connectionEnded.wait()
    let error = await #expect(throws: URLError.self) { try await task.value }
    #expect(error?.code == .cancelled && !task.isCancelled)
  }

  @Test("the task's cancel ends an awaited request too, and leaves the token alone")
  func awaitedTaskCancel() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let source = CancellationTokenSource()
    let task = Task { try await text(server, "/silence", source.token) }
    await server.asked.wait()
    task.cancel()
    await server.connectionEnded.wait()
    let error = await #expect(throws: URLError.self) { try await task.value }
    #expect(error?.code == .cancelled && !source.token.isCompleted)
  }

  @Test("an awaited request sends nothing if its token or task was cancelled before")
  func awaitedBornCancelled() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let first = await #expect(throws: URLError.self) { try await text(server, "/text", .cancelled) }
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await text(server, "/text", .never)
    }
    let second = await #expect(throws: URLError.self) { try await task.value }
    #expect(first?.code == .cancelled && second?.code == .cancelled)
    #expect(server.requests.value == 0)
  }

  @Test("a cancel at any moment around the start, and the end, does not stop the program")
  func cancelledAtAnyMoment() async {
    // Of a session with a cache, whose tasks Foundation on Linux stops the program for.
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer { _, connection in connection.send(body: "text") }
      let session = URLSession(configuration: .default)
      for round in 0..<1_500 {
        let source = CancellationTokenSource()
        let delay = (round % 50) * (round % 50)
        let canceller = Task.detached {
          for _ in 0..<delay { _ = source.isCancelled }
          source.cancel()
        }
        let result = await Task {
          try await session.data(from: server.url("/"), cancellationToken: source.token).0
        }.result
        await canceller.value
        switch result {
        case .success(let data): try #require(data == Data("text".utf8))
        case .failure(let error): try #require((error as? URLError)?.code == .cancelled)
        }
      }
    }
  }

  @Test("the completion is called on the session's delegate queue, and its delegate for redirects")
  func sessionIsAsked() async throws {
    let server = try LoopbackServer { request, connection in
      if request.path == "/old" {
        connection.send(status: "302 Found", body: "moved", header: "Location: /new")
      } else {
        connection.send(body: "new")
      }
    }
    defer { server.stop() }
    let delegate = SessionDelegate()
    let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
    let (text, isOnQueue) = await withCheckedContinuation { continuation in
      session.data(from: server.url("/old"), cancellationToken: .never) { data, _, _ in
        continuation.resume(
          returning: (
            String(decoding: data ?? Data(), as: UTF8.self),
            OperationQueue.current === session.delegateQueue
          ))
      }
    }
    #expect(text == "new" && isOnQueue)
    #expect(delegate.notes.events == ["redirect 302 on its queue: true"])
  }

  @Test(
    "a challenge that nothing answers is a response with its status; an answered one is asked once")
  func challenges() async throws {
    let server = try LoopbackServer { request, connection in
      if request.header["authorization"] == "Basic dTpw" {
        connection.send(body: "open")
      } else {
        connection.send(
          status: "401 Unauthorized", body: "closed", header: "WWW-Authenticate: Basic realm=\"a\"")
      }
    }
    defer { server.stop() }
    for (delegate, expected) in [(nil, "closed"), (SessionDelegate(), "open")] {
      let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
      let (data, response) = try await session.data(
        from: server.url("/"), cancellationToken: CancellationToken.never)
      #expect(String(decoding: data, as: UTF8.self) == expected)
      #expect((response as? HTTPURLResponse)?.statusCode == (expected == "open" ? 200 : 401))
    }
  }

  @Test("a token of couchdeveloper's protocol does in each form what a token does")
  func otherTokens() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let none: any CancellationTokenType = CancellationTokenNone()
    let cancelled: any CancellationTokenType = CancellationToken.cancelled
    let url = server.url("/text")
    for (token, expected) in [(none, LoopbackServer.text as String?), (cancelled, nil)] {
      let (data, _, code) = await withCheckedContinuation { continuation in
        session.data(from: url, cancellationToken: token) { data, response, error in
          continuation.resume(returning: (data, response, (error as? URLError)?.code))
        }
      }
      #expect(data.map { String(decoding: $0, as: UTF8.self) } == expected)
      #expect(code == (expected == nil ? .cancelled : nil))
      let result = await withCheckedContinuation { continuation in
        session.data(from: url, cancellationToken: token) { result in
          continuation.resume(returning: result)
        }
      }
      let text = try? result.map { String(decoding: $0.0, as: UTF8.self) }.get()
      #expect(text == expected)
      let awaited = try? await session.data(from: url, cancellationToken: token).0
      #expect(awaited.map { String(decoding: $0, as: UTF8.self) } == expected)
    }
    #expect(server.requests.value == 3)
  }
}
