import Foundation
import ProceduresFoundation
import ProcedureTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct URLSessionCancellationTests {
  private let session = URLSession(configuration: .ephemeral)

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

  @Test("what is not cancelled is loaded")
  func loads() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let source = CancellationTokenSource()
    for token in [source.token, .never, CancellationTokenSource().token] {
      #expect(try await load(server.url("/text"), token).get() == LoopbackServer.text)
    }
    #expect(server.requests.value == 3 && !source.token.isCompleted)
  }

  @Test("cancelled in flight: the server sees the connection end, the completion gets .cancelled")
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

  @Test("the form with three values; a task registered by hand; an error that is no cancel")
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
}
