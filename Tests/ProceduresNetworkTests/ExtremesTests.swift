import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Numbers, files and heads that make no sense.
@Suite("Extremes of requests and answers", .hangLimit)
struct ExtremesTests {
  private let queue = ProcedureQueue(name: "extremes")

  @Test("I4: any number may be a time-out, of a request and of a session")
  func intervals() async {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer()
      let intervals = [
        Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, 1e17, 1e10, 0, -1,
      ]
      for interval in intervals {
        var request = URLRequest(url: server.url("/text"))
        request.timeoutInterval = interval
        _ = try await ProcedureQueue().value(of: NetworkDataProcedure(request: request))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = interval
        configuration.timeoutIntervalForResource = interval
        let session = URLSession(configuration: configuration)
        request = URLRequest(url: server.url("/text"))
        request.httpMethod = "POST"
        let send = NetworkUploadProcedure(
          session: session, request: request, body: .data(Data("a".utf8)))
        _ = try await ProcedureQueue().value(of: send)
      }
    }
  }

  @Test("I4: a time-out is kept to the part of a second, and ends a silent transfer")
  func silence() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var request = URLRequest(url: server.url("/silence"))
    request.timeoutInterval = 0.1
    repeat {
      // On a busy machine the time may be up before the request has come: then it gets longer.
      request.timeoutInterval *= 4
      let start = ContinuousClock.now
      let fetch = NetworkDataProcedure(request: request)
      let error = await queue.run(fetch).errors.first as? URLError
      #expect(error?.code == .timedOut)
      #expect(ContinuousClock.now - start >= .seconds(request.timeoutInterval))
    } while !server.asked.isOpen
    await server.connectionEnded.wait()
  }

  @Test("I4: a server that sends a byte now and then meets the time-out for all of it")
  func trickle() async throws {
    let server = try LoopbackServer { _, connection in
      connection.sendHead(length: 1 << 20)
      while connection.send(Data(count: 1)) { usleep(10_000) }
    }
    defer { server.stop() }
    let configuration = URLSessionConfiguration.patient
    // Half a second: meanwhile Foundation's thread for the connection spins.
    configuration.timeoutIntervalForResource = 0.5
    let fetch = NetworkDataProcedure(
      session: URLSession(configuration: configuration), url: server.url("/"))
    let error = await queue.run(fetch).errors.first as? URLError
    #expect(error?.code == .timedOut)
  }

  @Test("I4: a body that is no file fails at once, and says so")
  func noFile() async throws {
    let server = try LoopbackServer { _, connection in connection.send(body: "done") }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    let pipe = directory.url.appending(path: "pipe")
    #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
    for (url, code) in [
      (directory.url, URLError.Code.fileIsDirectory), (pipe, .cannotOpenFile),
      (directory.url.appending(path: "none"), .fileDoesNotExist),
      (URL(string: "http://a.example/file")!, .unsupportedURL),
    ] {
      var request = URLRequest(url: server.url("/"))
      request.httpMethod = "PUT"
      let send = NetworkProcedure { [request] in
        NetworkUploadProcedure(request: request, body: .file(url))
      }
      let error = await queue.run(send).errors.first as? URLError
      #expect(error?.code == code)
      #expect(error?.userInfo[NSFilePathErrorKey] as? String == url.path)
    }
    #expect(server.requests.value == 0)
  }

  #if canImport(FoundationNetworking)
    @Test("I4: a head that Foundation cannot read is an error of its own, and not asked for again")
    func heads() async throws {
      let line = String(repeating: "a", count: 1_000)
      let heads =
        [
          "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
          "HTTP/1.1 200 OK\r\nX-A:1\r\nContent-Length: 2\r\n\r\nok",
          // More than libcurl takes: 100 KB a line, 300 KB in all.
          "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: 200_000))\r\n\r\nok",
          "HTTP/1.1 200 OK\r\n\(String(repeating: "X-A: \(line)\r\n", count: 400))\r\nok",
          "HTTP/1.1 1000 OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "SSH-2.0-Open\r\n", "no head",
        ].map { Data($0.utf8) } + [
          Data("HTTP/1.1 200 OK\r\nX-A: caf".utf8) + [0xe9]
            + Data("\r\nContent-Length: 2\r\n\r\nok".utf8)
        ]
      for head in heads {
        let server = try LoopbackServer { _, connection in
          connection.send(head)
          connection.end()
        }
        defer { server.stop() }
        let fetch = NetworkProcedure { [session = URLSession(configuration: .patient)] in
          NetworkDataProcedure(session: session, url: server.url("/"))
        }
        let error = await queue.run(fetch).errors.first as? URLError
        #expect(error?.code == .cannotParseResponse, "\(error as Any)")
        #expect(server.requests.value == 1)
      }
    }

    @Test("I4: a connection that breaks off has that name")
    func brokenOff() async throws {
      let server = try LoopbackServer { _, connection in
        connection.sendHead(length: 100)
        connection.send(Data(count: 50))
        connection.end()
      }
      defer { server.stop() }
      let fetch = NetworkDataProcedure(
        session: URLSession(configuration: .patient), url: server.url("/"))
      let error = await queue.run(fetch).errors.first as? URLError
      #expect(error?.code == .networkConnectionLost)
    }
  #endif
}
