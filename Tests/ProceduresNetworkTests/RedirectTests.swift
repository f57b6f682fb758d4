import Foundation
import ProcedureTestSupport
import Procedures
import Testing

@testable import ProceduresNetwork

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Foundation on Linux stops the program for an answer to a redirect that comes after the end of
/// the task.
@Suite("Redirects", .hangLimit)
struct RedirectTests {
  private let queue = ProcedureQueue(name: "redirects")
  private let session = URLSession(configuration: .patient)

  @Test("I4: a delegate that answers after a cancel does not stop the program")
  func answerAfterCancel() async {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer.redirecting()
      for isLoad in [false, true] {
        for isFollowed in [false, true] {
          let delegate = HoldingDelegate()
          let session = URLSession(
            configuration: .patient, delegate: delegate, delegateQueue: nil)
          if isLoad {
            let source = CancellationTokenSource()
            let loaded = Task {
              try await session.data(from: server.url("/old"), cancellationToken: source.token)
            }
            await delegate.asked.wait()
            source.cancel()
            let error = await #expect(throws: URLError.self) { try await loaded.value }
            #expect(error?.code == .cancelled)
          } else {
            let fetch = NetworkDataProcedure(session: session, url: server.url("/old"))
            ProcedureQueue().add(fetch)
            await delegate.asked.wait()
            fetch.cancel()
            let outcome = await fetch.waitUntilFinished()
            #expect(outcome == .cancelled([]))
          }
          delegate.answer(isFollowed)
          // It comes behind the answer, on the same queue.
          let next = NetworkDataProcedure(session: session, url: server.url("/new"))
          ProcedureQueue().add(next)
          #expect(try await next.value.payload == Data("new".utf8))
        }
      }
    }
  }

  @Test(
    "I4: a transfer that is cancelled at any moment of a redirect finishes, and the program goes on"
  )
  func cancelRaces() async {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer.redirecting()
      let rounds = ProcessInfo.processInfo.environment["STRESS"] == nil ? 60 : 3_000
      let queue = ProcedureQueue()
      await withTaskGroup(of: Void.self) { lanes in
        for lane in 0..<8 {
          lanes.addTask {
            let delegate = lane % 2 == 0 ? nil : SessionDelegate()
            let session = URLSession(
              configuration: .patient, delegate: delegate, delegateQueue: nil)
            for round in 0..<rounds {
              let delay = (round % 40) * (round % 40) * 50
              if lane % 4 < 2 {
                let fetch = NetworkDataProcedure(session: session, url: server.url("/old"))
                queue.add(fetch)
                for _ in 0..<delay { _ = fetch.isCancelled }
                fetch.cancel()
                let outcome = await fetch.waitUntilFinished()
                #expect(outcome == .cancelled([]) || outcome.isSuccess, "round \(round)")
              } else {
                let source = CancellationTokenSource()
                let loaded = Task {
                  try await session.data(
                    from: server.url("/old"), cancellationToken: source.token)
                }
                for _ in 0..<delay { _ = source.isCancelled }
                source.cancel()
                do {
                  let (data, _) = try await loaded.value
                  #expect(data == Data("new".utf8))
                } catch {
                  #expect((error as? URLError)?.code == .cancelled)
                }
              }
            }
          }
        }
      }
    }
  }

  @Test(
    "I4: a transfer that is cancelled while a challenge is answered finishes, and the program goes on"
  )
  func challengeRaces() async {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer { request, connection in
        if request.header["authorization"] == "Basic dTpw" {
          connection.send(body: "open")
        } else {
          connection.send(
            status: "401 Unauthorized", body: "closed",
            header: "WWW-Authenticate: Basic realm=\"a\"")
        }
      }
      let rounds = ProcessInfo.processInfo.environment["STRESS"] == nil ? 60 : 3_000
      let queue = ProcedureQueue()
      await withTaskGroup(of: Void.self) { lanes in
        let session = URLSession(
          configuration: .patient, delegate: SessionDelegate(), delegateQueue: nil)
        for _ in 0..<8 {
          lanes.addTask {
            for round in 0..<rounds {
              let fetch = NetworkDataProcedure(session: session, url: server.url("/"))
              queue.add(fetch)
              for _ in 0..<((round % 40) * (round % 40) * 50) { _ = fetch.isCancelled }
              fetch.cancel()
              let outcome = await fetch.waitUntilFinished()
              #expect(outcome == .cancelled([]) || outcome.isSuccess, "round \(round)")
            }
          }
        }
      }
    }
  }

  #if canImport(FoundationNetworking)
    @Test("I4: a timeout of the session while its delegate is asked is the error, and its end")
    func sessionTimeout() async {
      await #expect(processExitsWith: .success) {
        let server = try LoopbackServer.redirecting()
        var request = URLRequest(url: server.url("/old"))
        request.timeoutInterval = 1
        while true {
          let delegate = HoldingDelegate()
          let session = URLSession(
            configuration: .patient, delegate: delegate, delegateQueue: nil)
          let fetch = NetworkDataProcedure(session: session, request: request)
          ProcedureQueue().add(fetch)
          let outcome = await fetch.waitUntilFinished()
          #expect((outcome.errors.first as? URLError)?.code == .timedOut)
          if delegate.asked.isOpen {
            // Too late: nothing happens.
            delegate.answer(true)
            break
          }
          // On a busy machine the time may be up before the redirect has come.
          request.timeoutInterval *= 4
        }
      }
    }
  #endif

  @Test("I4: a redirect that leads nowhere is a response, and counts as such")
  func nowhere() async throws {
    let server = try LoopbackServer { request, connection in
      switch request.path {
      case "/none": connection.send(status: "302 Found", body: "moved", header: "X-A: b")
      case "/empty": connection.send(status: "301 Moved", header: "X-A: b", "Location:")
      default: connection.send(status: "304 Not Modified", header: "X-A: b")
      }
    }
    defer { server.stop() }
    let directory = try TemporaryDirectory()
    for (path, status) in [("/none", 302), ("/empty", 301), ("/same", 304)] {
      let fetch = NetworkDataProcedure(
        session: session, url: server.url(path), accepting: [status])
      let file = directory.url.appending(path: "\(status)")
      let download = NetworkDownloadProcedure(
        session: session, url: server.url(path), to: file, accepting: [status])
      let refused = NetworkDataProcedure(session: session, url: server.url(path))
      queue.add(fetch, download, refused)
      let response = try await fetch.value.response
      #expect(response.statusCode == status)
      #expect(response.value(forHTTPHeaderField: "x-a") == "b")
      #expect(try await download.value.statusCode == status)
      // By HTTP a 304 has no body.
      #expect(directory.names.contains("\(status)") == (status != 304))
      let error = await #expect(throws: NetworkError.self) { try await refused.value }
      #expect(error?.code == .unacceptableStatus && error?.statusCode == status)
      let loaded = try await session.data(
        from: server.url(path), cancellationToken: CancellationToken.never)
      #expect((loaded.1 as? HTTPURLResponse)?.statusCode == status)
    }
  }
}

extension LoopbackServer {
  /// `/old` has moved to `/new`.
  fileprivate static func redirecting() throws -> LoopbackServer {
    try LoopbackServer { request, connection in
      if request.path == "/old" {
        connection.send(status: "302 Found", body: "moved", header: "Location: /new")
      } else {
        connection.send(body: "new")
      }
    }
  }
}

/// Answers a redirect when it is told to.
private final class HoldingDelegate: NSObject, URLSessionTaskDelegate, Sendable {
  let asked = Gate()
  private let held = Recorder<@Sendable (Bool) -> Void>()

  func answer(_ follows: Bool) { for answer in held.events { answer(follows) } }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    held.note { follows in completionHandler(follows ? request : nil) }
    asked.open()
  }
}
