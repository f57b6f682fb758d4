import Dispatch
@testable import Procedures
import ProcedureTestSupport
import Testing

/// A main thread that blocks for what needs it is told so. Each test is on it, and lets it go at its end.
@MainActor @Suite(.timeLimit(.minutes(15))) struct BlockedMainThreadTests {
  private let queue = ProcedureQueue()

  /// What is found to need the main thread, of a queue that has this procedure, while that is blocked.
  private func found(_ procedure: Procedure) -> Procedure? {
    queue.add(procedure)
    return queue.list.memberInNeedOfMainThread
  }

  @Test("the wait is reported, with what needs the main thread, and goes on")
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
    semaphore.wait(
      in: "block()", instead: "await all", patience: .milliseconds(1), for: queue.list)
  }

  @Test("closures on the main actor need it, however they are written, and however deep they are")
  func needs() async {
    let procedures: [Procedure] = [
      MainActorProcedure {},
      AsyncProcedure {},
      AsyncResultProcedure { 1 },
    ]
    for procedure in procedures {
      #expect(found(procedure) === procedure)
      await queue.waitUntilAllFinished()
    }
    let deep = AsyncProcedure {}
    queue.add(GroupProcedure(GroupProcedure(deep)))
    #expect(queue.list.memberInNeedOfMainThread === deep)
    await queue.waitUntilAllFinished()
    #expect(queue.list.memberInNeedOfMainThread == nil)
  }

  @Test("closures that run elsewhere do not need it, nor does one that was cancelled in time")
  func needsNot() async {
    queue.isSuspended = true
    let work: @Sendable () async -> Void = {}
    for procedure in [
      AsyncProcedure { @concurrent in }, AsyncProcedure(work), AsyncProcedure { @Other in },
      AsyncProcedure(.callback) { finish in finish() }, BlockProcedure {},
    ] {
      #expect(found(procedure) == nil)
    }
    let cancelled = AsyncProcedure {}
    #expect(found(cancelled) === cancelled)
    cancelled.cancel()
    #expect(queue.list.memberInNeedOfMainThread == nil)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
  }

  @Test("whatever is on a queue of the main thread needs it")
  func mainQueue() async {
    let procedure = BlockProcedure {}
    let main = ProcedureQueue(underlyingQueue: .main)
    main.add(procedure)
    #expect(main.list.memberInNeedOfMainThread === procedure)
    await main.waitUntilAllFinished()
  }
}

@globalActor private actor Other {
  static let shared = Other()
}
