import Foundation
import ProcedureTestSupport
import Procedures
import ProceduresFoundation
import Testing

// listing: coming-callback
final class Send: Procedure, @unchecked Sendable {
  let service: Service
  private var request: Request?

  init(_ service: Service) { self.service = service }

  override func execute() {
    request = service.start { error in
      // The error of a request that was cancelled is no news.
      self.finish(withError: self.isCancelled ? nil : error)
    }
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    request?.cancel()  // which calls back, and so finishes it
  }
}
// end

@Suite("Listings of the guide ComingFromOperationQueue", .hangLimit)
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
    #expect(await sent.waitUntilFinished() == .failed([TestError("no")]))

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

  @Test("operations and procedures depend on each other")
  func mixed() async {
    let (operations, procedures) = (OperationQueue(), ProcedureQueue())
    let trace = Recorder<String>()
    let shown = Gate()
    let download = BlockOperation { trace.note("download") }
    let parse = BlockProcedure { trace.note("parse") }
    let show = BlockOperation {
      trace.note("show")
      shown.open()
    }
    // listing: coming-mixed
    parse.add(dependency: download)  // download and show are operations, parse is a procedure
    show.addDependency(parse)

    operations.addOperation(download)
    procedures.add(parse)
    operations.addOperation(show)
    // end
    await shown.wait()
    #expect(trace.events == ["download", "parse", "show"])
  }

  @Test("either kind runs on the other's queue")
  func wrapped() async {
    let (operations, procedures) = (OperationQueue(), ProcedureQueue())
    operations.isSuspended = true
    let output = Recorder<String>()
    @Sendable func print(_ text: String) { output.note(text) }
    let resize = BlockOperation { output.note("resize") }
    let compress = BlockOperation { output.note("compress") }
    let upload = BlockProcedure { output.note("upload") }
    // listing: coming-wrapped
    let resizing = procedures.add(resize)  // an operation, run as an OperationProcedure
    let uploading = operations.add(upload)  // a procedure, run as a ProcedureOperation
    uploading.addDependency(resize)

    let group = GroupProcedure {
      compress  // an operation
      BlockProcedure { print("compressed") }
    }
    // end
    operations.isSuspended = false
    #expect(await resizing.waitUntilFinished().isSuccess)
    #expect(await upload.waitUntilFinished().isSuccess)
    #expect(output.events == ["resize", "upload"])
    #expect(await procedures.run(group).isSuccess)
    #expect(Set(output.events.dropFirst(2)) == ["compress", "compressed"])
  }
}
