import ProcedureTestSupport
import Procedures
import Testing

/// What is reported of errors at which nothing looks.
@Suite(.hangLimit) struct UnobservedErrorsTests {
  private let scheduler = ManualScheduler()
  private let diagnostics = Recorder<ProcedureDiagnostic>()

  private func makeQueue() -> ProcedureQueue {
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.diagnosticsHandler = { [diagnostics] in diagnostics.note($0) }
    return queue
  }

  @Test(
    "the error of a closure that was added, and that nobody kept, is reported before the queue is empty"
  )
  func unobserved() {
    let queue = makeQueue()
    queue.add { throw TestError("first") }
    scheduler.run()
    #expect(diagnostics.events.map(\.code) == [.errorsUnobserved])
    #expect(diagnostics.events.first?.description.contains("first") == true)
  }

  @Test(
    "the error of a kept procedure is reported when that is released, unless its errors were read")
  func kept() {
    let queue = makeQueue()
    var dropped: BlockProcedure? = queue.add { throw TestError("dropped") }
    var read: BlockProcedure? = queue.add { throw TestError("read") }
    var asked: BlockProcedure? = queue.add { throw TestError("asked") }
    scheduler.run()
    #expect(diagnostics.events.isEmpty)
    #expect(read?.errors.count == 1 && asked?.outcome != nil && dropped?.failed == true)
    (dropped, read, asked) = (nil, nil, nil)
    #expect(diagnostics.events.map { "\($0)".contains("dropped") } == [true])
  }

  @Test(
    "errors that an observer or a dependent hears of are not reported, nor those of other procedures"
  )
  func heard() {
    let queue = makeQueue()
    queue.isSuspended = true
    queue.add { throw TestError("observed") }.addDidFinishBlockObserver { _, _ in }
    let dependent = BlockProcedure {}
    dependent.add(dependency: queue.add { throw TestError("awaited") })
    queue.add(dependent)
    queue.add(BlockProcedure { throw TestError("added as a procedure") })
    queue.add(GroupProcedure(BlockProcedure { throw TestError("a child") }))
    queue.add { throw TestError("cancelled") }.cancel()
    queue.add {}
    queue.isSuspended = false
    scheduler.run()
    #expect(queue.count == 0 && diagnostics.events.map(\.description) == [])
  }

  @Test("unread errors are reported on standard error without a handler, in debug builds")
  func standardError() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let queue = ProcedureQueue()
      queue.add { throw TestError("lost") }
      await queue.waitUntilAllFinished()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #if DEBUG
      #expect(
        text.contains("Procedures: The closure of 'BlockProcedure', given to add { }, failed"))
    #else
      #expect(!text.contains("Procedures: "))
    #endif
  }
}
