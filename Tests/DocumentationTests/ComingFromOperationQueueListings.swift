import Procedures
import ProcedureTestSupport
import Testing

// listing: coming-callback
final class Send: Procedure, @unchecked Sendable {
  let service: Service
  private var request: Request?

  init(_ service: Service) { self.service = service }

  override func execute() {
    request = service.start { error in self.finish(withError: error) }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    request?.cancel()  // which calls back, and so finishes it
  }
}
// end

@Suite("Listings of the guide ComingFromOperationQueue")
struct ComingFromOperationQueueListings {
  @Test("an operation with a callback ends with it, and with its cancel")
  func callback() async {
    let queue = ProcedureQueue()
    let service = Service()
    let sent = Send(service)
    queue.add(sent)
    await service.started.wait()
    while service.request == nil { await Task.yield() }
    service.request?.end(TestError("no"))
    #expect("\(await sent.waitUntilFinished())" == "failed: no")

    let cancelled = Send(Service())
    queue.add(cancelled)
    await cancelled.service.started.wait()
    cancelled.cancel()
    #expect(await cancelled.waitUntilFinished().isCancelled)

    queue.isSuspended = true
    let pending = Send(Service())
    queue.add(pending)
    pending.cancel()
    #expect(await pending.waitUntilFinished().isCancelled && !pending.service.started.isOpen)
  }
}
