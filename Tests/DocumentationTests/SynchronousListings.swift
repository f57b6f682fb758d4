import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

// listing: sync-polling
final class Resize: Procedure, @unchecked Sendable {
  private let rows: [[UInt8]]
  private(set) var result: [[UInt8]] = []

  init(_ rows: [[UInt8]]) { self.rows = rows }

  override func execute() {
    for row in rows {
      if isCancelled { break }
      result.append(row.indices.filter { $0 % 2 == 0 }.map { row[$0] })
    }
    if isCancelled { result = [] }
    finish()
  }
}
// end

// listing: sync-blocking
final class ReadToEnd: Procedure, @unchecked Sendable {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  override func execute() {
    withBlockingCancellationHandler(for: cancellationToken) {
      connection.readToEnd()  // blocks; returns early when the connection is closed
    } onCancel: { [connection] in
      connection.close()
    }
    finish()
  }
}
// end

@Suite("Listings of the guide SynchronousProcedures", .hangLimit)
struct SynchronousListings {
  @Test("a procedure polls isCancelled")
  func polling() async {
    let queue = ProcedureQueue()
    let resize = Resize([[1, 2, 3], [4, 5]])
    #expect(await queue.run(resize) == .succeeded)
    #expect(resize.result == [[1, 3], [4]])
    // Cancelled on its first row's way in, it does no row.
    let cancelled = Resize([[1, 2, 3], [4, 5]])
    cancelled.addWillExecuteBlockObserver { procedure, _ in procedure.cancel() }
    #expect(await queue.run(cancelled) == .cancelled([]))
    #expect(cancelled.result.isEmpty)
  }

  @Test("a closure that throws fails its procedure")
  func throwing() async {
    let queue = ProcedureQueue(underlyingQueue: DispatchQueue(label: "blocking"))
    let (entered, cancelled) = (Gate(), Gate())
    let output = Recorder<Int>()
    let files = [1, 2, 3]
    @Sendable func compress(_ file: Int) throws {
      output.note(file)
      entered.open()
      cancelled.block()
    }
    // listing: sync-throwing
    let compression = BlockProcedure { procedure in
      for file in files {
        try procedure.cancellationToken.checkCancellation()
        try compress(file)
      }
    }
    // end
    queue.add(compression)
    await entered.wait()
    compression.cancel()
    cancelled.open()
    #expect(await compression.waitUntilFinished() == .cancelled([]))
    #expect(output.events == [1])
  }

  @Test("a token interrupts a blocking call")
  func blocking() async {
    let connection = Connection()
    let read = ReadToEnd(connection)
    let queue = ProcedureQueue(underlyingQueue: DispatchQueue(label: "blocking"))
    let executes = Gate()
    read.addWillExecuteBlockObserver { _, _ in executes.open() }
    queue.add(read)
    await executes.wait()
    read.cancel()
    #expect(await read.waitUntilFinished() == .cancelled([]))
  }
}
