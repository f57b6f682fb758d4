import Dispatch
@testable import Procedures
import ProcedureTestSupport
import Testing

/// A main thread that blocks for what needs it is told so. Each test is on it, and lets it go at
/// its end.
@MainActor @Suite(.hangLimit) struct BlockedMainThreadTests {
  private let queue = ProcedureQueue()

  /// What is found to need the main thread, of a queue that has this procedure, while that is
  /// blocked.
  private func found(_ procedure: Procedure) -> Procedure? {
    queue.add(procedure)
    return obstacle(to: queue.procedures)
  }

  private func obstacle(to procedures: [Procedure]) -> Procedure? {
    WaitGraph(from: procedures).waitsForMainThread
  }

  @Test("a blocked main thread is reported, with the procedure that needs it, and the wait goes on")
  func report() async {
    let semaphore = DispatchSemaphore(value: 0)
    let reports = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = {
      reports.note($0)
      semaphore.signal()
    }
    queue.add(MainActorProcedure(name: "show") {})
    block(for: semaphore)
    #expect(reports.events.map(\.code) == [.mainThreadBlocked])
    #expect(reports.events.first?.procedureName == "show")
    #expect(reports.events.first?.description.contains("Write 'await all'") == true)
    await queue.waitUntilAllFinished()
  }

  private nonisolated func block(for semaphore: DispatchSemaphore) {
    let call = WaitingCall(
      name: "block()", instead: "await all", target: .all(queue.list), while: { true })
    #expect(call.block(on: semaphore, patience: .milliseconds(1)) == nil)
  }

  @Test(
    "closures on the main actor need the main thread, however they are written, and however deep")
  func needs() async {
    let procedures: [Procedure] = [
      MainActorProcedure {},
      AsyncProcedure {},
      AsyncResultProcedure { 1 },
      AsyncProcedure { procedure in _ = procedure },
      AsyncResultProcedure { procedure in procedure.isCancelled },
      BlockProcedure {}.with(AsyncCondition { @MainActor in true }),
      BlockProcedure {}.with(AsyncCondition { @MainActor procedure in procedure.isPending }),
      BlockProcedure {}.with(!(AsyncCondition { @MainActor in false } && AsyncCondition { true })),
    ]
    for procedure in procedures {
      #expect(found(procedure) === procedure)
      await queue.waitUntilAllFinished()
    }
    let deep = AsyncProcedure {}
    queue.add(GroupProcedure(GroupProcedure(deep)))
    #expect(obstacle(to: queue.procedures) === deep)
    await queue.waitUntilAllFinished()
    #expect(obstacle(to: queue.procedures) == nil)
  }

  @Test(
    "closures that run elsewhere do not need the main thread, nor does one that was cancelled in time"
  )
  func needsNot() async {
    queue.isSuspended = true
    let work: @Sendable () async -> Void = {}
    for procedure in [
      AsyncProcedure { @concurrent in }, AsyncProcedure(work), AsyncProcedure { @Other in },
      AsyncProcedure(.callback) { finish in finish() }, BlockProcedure {},
      AsyncProcedure { @concurrent procedure in _ = procedure },
      BlockProcedure {}.with(AsyncCondition { true }),
      BlockProcedure {}.with(AsyncCondition { @Other procedure in procedure.isPending }),
    ] {
      #expect(found(procedure) == nil)
    }
    let cancelled = AsyncProcedure {}
    #expect(found(cancelled) === cancelled)
    cancelled.cancel()
    #expect(obstacle(to: queue.procedures) == nil)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
  }

  @Test("transforms need the main thread as other closures do")
  func transforms() async {
    let source = ResultProcedure { 1 }
    let plain = AsyncTransformProcedure<Int, Int> { input in input + 1 }
    let second = AsyncTransformProcedure<Int, Int> { procedure, input in
      procedure.isCancelled ? 0 : input
    }
    plain.injectResult(from: source)
    second.injectResult(from: plain)
    queue.isSuspended = true
    queue.add(source, second)
    #expect(obstacle(to: [source]) == nil)
    #expect(obstacle(to: [second]) === second)
    queue.add(plain)
    #expect(obstacle(to: [plain]) === plain)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect((try? second.output?.get()) == 2)
  }

  @Test("a procedure that needs the main thread is found on another queue")
  func elsewhere() async {
    let other = ProcedureQueue()
    let (shown, first, last) = (MainActorProcedure {}, BlockProcedure {}, BlockProcedure {})
    first.add(dependency: shown)
    last.add(dependency: first)
    queue.isSuspended = true
    other.isSuspended = true
    other.add(shown, first)
    queue.add(last)
    #expect(obstacle(to: [last]) === shown && obstacle(to: queue.procedures) === shown)
    // Beside it, one that does not wait for it.
    let free = BlockProcedure {}
    other.add(free)
    #expect(obstacle(to: [free]) == nil && obstacle(to: other.procedures) === shown)
    queue.isSuspended = false
    other.isSuspended = false
    await queue.waitUntilAllFinished()
    await other.waitUntilAllFinished()
  }

  @Test("all procedures on a queue of the main thread need it")
  func mainQueue() async {
    let procedure = BlockProcedure {}
    let main = ProcedureQueue(underlyingQueue: .main)
    main.add(procedure)
    #expect(obstacle(to: main.procedures) === procedure)
    await main.waitUntilAllFinished()
  }
}

@globalActor private actor Other {
  static let shared = Other()
}

extension Procedure {
  fileprivate func with(_ condition: some Condition) -> Self {
    add(condition: condition)
    return self
  }
}
