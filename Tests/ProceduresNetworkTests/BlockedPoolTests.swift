import Dispatch
import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresNetwork
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

#if os(macOS) || os(Linux)
  /// In a process of its own, all threads of whose pool are blocked.
  @Suite(.hangLimit) struct BlockedPoolTests {
    /// Answers `/text`; of `/silence`, tells that it was asked, and when the connection has ended.
    private static func server(
      asked: DispatchSemaphore, ended: DispatchSemaphore
    ) throws -> LoopbackServer {
      try LoopbackServer { request, connection in
        guard request.path == "/silence" else {
          return connection.send(body: LoopbackServer.text)
        }
        asked.signal()
        connection.waitForEnd()
        ended.signal()
      }
    }

    @Test(
      "Q11, I4: a request completes, and is cancelled, although each thread of the pool is blocked")
    func requests() async {
      await #expect(processExitsWith: .success) {
        func run() throws {
          let (gate, asked, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
          )
          let server = try BlockedPoolTests.server(asked: asked, ended: ended)
          for _ in 0..<300 { DispatchQueue.global().async { gate.wait() } }
          let (queue, session) = (ProcedureQueue(), URLSession(configuration: .patient))
          // A procedure.
          let fetch = NetworkDataProcedure(session: session, url: server.url("/text"))
          queue.add(fetch)
          precondition(fetch.blockUntilFinished() == .succeeded)
          precondition(
            fetch.output.map { (try? $0.get())?.payload == Data(LoopbackServer.text.utf8) } == true)
          // Its cancel.
          let cancelled = NetworkDataProcedure(session: session, url: server.url("/silence"))
          queue.add(cancelled)
          asked.wait()
          cancelled.cancel()
          ended.wait()
          precondition(cancelled.blockUntilFinished() == .cancelled([]))
          // Its deadline.
          let late = NetworkDataProcedure(session: session, url: server.url("/silence"))
          queue.add(late)
          asked.wait()
          late.timeout(after: .milliseconds(50))
          ended.wait()
          precondition(late.blockUntilFinished().errors.count == 1)
          server.stop()
        }
        try run()
      }
    }
  }
#endif
