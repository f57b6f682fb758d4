import Dispatch
// listing: first
import Procedures
// end
import ProcedureTestSupport
import Testing

// listing: subclass
final class Checksum: Procedure, @unchecked Sendable {
  let bytes: [UInt8]
  private(set) var sum: UInt32 = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  override func execute() {
    for byte in bytes {
      if isCancelled { break }
      sum = sum &* 31 &+ UInt32(byte)
    }
    finish()
  }
}
// end

@Suite("Listings of README.md")
struct ReadmeListings {
  private let output = Recorder<String>()

  @Test("the first example")
  func first() async {
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: first
    let queue = ProcedureQueue()
    let fetch = BlockProcedure { procedure in
      for page in 1...3 where !procedure.isCancelled { print("page \(page)") }
    }
    let report = BlockProcedure { print("all pages are here") }
    report.add(dependency: fetch)
    queue.add(fetch, report)
    await queue.waitUntilAllFinished()
    // end
    #expect(output.events == ["page 1", "page 2", "page 3", "all pages are here"])
  }

  @Test("awaiting a procedure")
  func awaiting() async throws {
    let (queue, bytes) = (ProcedureQueue(), [UInt8]("ab".utf8))
    let output = output
    func print(_ line: String) { output.note(line) }
    // listing: await
    let checksum = Checksum(bytes)
    switch await queue.run(checksum) {
    case .succeeded: print("the sum is \(checksum.sum)")
    case .failed(let errors): print("failed: \(errors)")
    case .cancelled(let errors): print("cancelled: \(errors)")
    }
    try await queue.run(Checksum(bytes)).get()  // or like this, if a failure is to be thrown
    // end
    #expect(output.events == ["the sum is \(97 * 31 + 98)"])
  }

  @Test("a group")
  func group() async {
    let queue = ProcedureQueue()
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: group
    let download = BlockProcedure { print("download") }
    let unpack = BlockProcedure { print("unpack") }
    unpack.add(dependency: download)
    let install = GroupProcedure(download, unpack)
    let restart = BlockProcedure { print("restart") }
    restart.add(dependency: install)
    queue.add(install, restart)
    // end
    await queue.waitUntilAllFinished()
    #expect(output.events == ["download", "unpack", "restart"])
  }

  @Test("cancelling")
  func cancelling() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let (bytes, error) = ([UInt8](), TestError("no space left"))
    // listing: cancel
    let checksum = Checksum(bytes)
    queue.add(checksum)
    checksum.cancel(withError: error)
    assert(checksum.isCancelled)
    let outcome = await checksum.waitUntilFinished()  // .cancelled([error])
    // end
    #expect(outcome == .cancelled([TestError("no space left")]))
  }

  @Test("observing")
  func observing() async {
    let queue = ProcedureQueue()
    let checksum = Checksum([1])
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    // listing: observe
    checksum.addWillExecuteBlockObserver { checksum, _ in print("\(checksum.name) starts") }
    checksum.addDidFinishBlockObserver { checksum, errors in print("sum: \(checksum.sum)") }
    // end
    _ = await queue.run(checksum)
    #expect(output.events == ["Checksum starts", "sum: 1"])
  }

  @Test("a token in, a token out")
  func token() async {
    let queue = ProcedureQueue(underlyingQueue: DispatchQueue(label: "uploads"))
    let connection = Connection()
    let upload = BlockProcedure { connection.readToEnd() }
    // listing: token
    let source = CancellationTokenSource()
    queue.add(upload, cancelledBy: source.token)
    upload.cancellationToken.onCancel { connection.close() }
    source.cancel()
    // end
    await queue.waitUntilAllFinished()
    #expect(upload.isCancelled && connection.isClosed)
  }

  @Test("a timeout and a delay")
  func time() async {
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    let executes = Gate()
    let upload = Endless()
    let output = output
    @Sendable func print(_ line: String) { output.note(line) }
    upload.addDidExecuteBlockObserver { _ in executes.open() }
    // listing: time
    upload.add(observer: TimeoutObserver(by: .seconds(30)))
    let pause = DelayProcedure(by: .seconds(2))
    pause.add(dependency: upload)
    let check = BlockProcedure { print("two seconds after the upload, however that ended") }
    check.add(dependency: pause)
    queue.add(upload, pause, check)
    // end
    let waits = Gate()
    pause.addDidExecuteBlockObserver { _ in waits.open() }
    await executes.wait()
    clock.advance(by: .seconds(30))
    _ = await upload.waitUntilFinished()
    let error = upload.errors.first as? ProcedureError
    #expect(error?.code == .timedOut && error?.duration == .seconds(30))
    await waits.wait()
    clock.advance(by: .seconds(2) - .nanoseconds(1))
    #expect(!pause.isFinished)
    clock.advance(by: .nanoseconds(1))
    await queue.waitUntilAllFinished()
    #expect(check.outcome == .succeeded)
    #expect(output.events.count == 1)
  }
}
