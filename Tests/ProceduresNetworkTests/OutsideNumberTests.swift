import Foundation
import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Numbers that a server says, and which need not make sense.
@Suite("Numbers from outside", .hangLimit)
struct OutsideNumberTests {
  private let queue = ProcedureQueue(name: "network")
  private let session = URLSession(configuration: .patient)

  private static let max = "9223372036854775807"

  @Test(
    "I4: a part of more bytes than there can be stops nothing; its progress is not known",
    arguments: [
      "bytes 9223372036854775805-9223372036854775806/*",
      "bytes 9223372036854775805-9223372036854775806/\(max)",
      "bytes 0-\(max)/*", "bytes \(max)-\(max)/*", "bytes 5-4/*", "bytes -1-4/*",
      "bytes 1-99999999999999999999/*", "bytes 0-4/0", "bytes 0-4/-5", "bytes 0-4/", "bytes",
      "bytes 0-4/5/6", "items 0-4/5",
    ])
  func contentRange(_ range: String) async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(status: "206 Part", body: "12345", header: "Content-Range: \(range)")
    }
    defer { server.stop() }
    let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
    queue.add(fetch)
    #expect(try await fetch.value.payload == Data("12345".utf8))
    // To a download that goes on it is an error, and nothing of it stays.
    let directory = try TemporaryDirectory()
    let file = directory.url.appending(path: "file")
    try Data("123".utf8).write(to: file.appendingPathExtension("part"))
    let identity = ResumableFile.identity(of: URLRequest(url: server.url("/")))
    try Data("\(identity)\n\"one\"".utf8).write(to: file.appendingPathExtension("part-tag"))
    let resuming = NetworkDownloadProcedure(
      session: session, url: server.url("/"), to: file, resuming: true)
    let outcome = await queue.run(resuming)
    #expect((outcome.errors.first as? URLError)?.code == .badServerResponse)
    #expect(directory.names == [])
  }

  @Test("I4: a length of more bytes than there can be is an error: what came cannot be all of it")
  func impossibleLength() async throws {
    let server = try LoopbackServer { _, connection in
      connection.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n".utf8))
      // Until nobody wants more.
      while connection.send(Data(count: 1_000)) {}
    }
    defer { server.stop() }
    let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
    let outcome = await queue.run(fetch)
    #expect((outcome.errors.first as? URLError)?.code == .badServerResponse)
  }

  @Test("I4: bytes are counted up to the largest number, and not beyond")
  func counting() throws {
    let url = try #require(URL(string: "http://a.example"))
    var machine = TransferStateMachine(
      request: URLRequest(url: url), acceptedStatusCodes: [206])
    let response = try #require(
      HTTPURLResponse(
        url: url, statusCode: 206, httpVersion: nil,
        headerFields: [
          "Content-Range": "bytes 9223372036854775800-9223372036854775806/\(Self.max)"
        ]))
    _ = machine.take(response as URLResponse)
    for _ in 0..<3 {
      let isWanted = machine.take(Data(count: 10))
      #expect(isWanted)
    }
    #expect(machine.fractionReceived == 1)
  }

  @Test(
    "I4: however long a server asks to wait, that is a duration",
    arguments: [
      "0", max, "99999999999999999999999999", "-1", "1e9", "", "Fri, 31 Dec 9999 23:59:60 GMT",
    ])
  func retryAfter(_ text: String) throws {
    let url = try #require(URL(string: "http://a.example"))
    let error = NetworkError(
      .unacceptableStatus, request: URLRequest(url: url), status: 503,
      header: ["Retry-After": text])
    #expect(error.retryAfter ?? .zero >= .zero)
    var resilience = NetworkResilience()
    resilience.longestRetryAfter = .longest
    resilience.deadline = .longest
    _ = resilience.decision(after: [error], method: "GET")
    var refusal = error
    refusal.deadlineLeft = .seconds(1)
    #expect("\(refusal)".contains("status 503"))
  }
}
