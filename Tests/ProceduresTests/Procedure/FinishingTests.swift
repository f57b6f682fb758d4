import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct FinishingTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("F1: the first finish wins; later ones and their errors change nothing")
  func firstWins() {
    let procedure = TracedProcedure(end: .whenTold)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.finish(withErrors: [TestError("first")]))
    #expect(!procedure.finish(withErrors: [TestError("second")]))
    scheduler.run()
    #expect(!procedure.finish())
    #expect(procedure.errors as? [TestError] == [TestError("first")])
  }

  @Test("F1: a finish before the start is refused, and reported to the queue")
  func refused() {
    let diagnostics = Recorder<ProcedureDiagnostic>()
    let queue = makeQueue()
    queue.diagnosticsHandler = { diagnostics.note($0) }
    let procedure = TracedProcedure("early", trace: trace)
    #expect(!procedure.finish())
    queue.isSuspended = true
    queue.add(procedure)
    #expect(!procedure.finish(withError: TestError()))
    #expect(diagnostics.events.map(\.code) == [.finishRefused])
    #expect(diagnostics.events.map(\.procedureName) == ["early"])
    #expect("\(diagnostics.events[0])".contains("it has not started; cancel it instead"))
    queue.isSuspended = false
    scheduler.run()
    #expect(procedure.outcome == .succeeded)
    #expect(trace.events.contains("early execute"))
  }

  @Test("F1: a finish of a cancelled procedure that has not started adds its errors, once")
  func onACancelledOne() {
    let queue = makeQueue()
    queue.isSuspended = true
    let procedure = TracedProcedure(trace: trace)
    queue.add(procedure)
    procedure.cancel(withError: TestError("c"))
    #expect(procedure.finish(withErrors: [TestError("f")]))
    #expect(!procedure.finish(withErrors: [TestError("g")]))
    scheduler.run()
    #expect(procedure.outcome == .cancelled([TestError("c"), TestError("f")]))

    let unqueued = TracedProcedure()
    unqueued.cancel()
    #expect(unqueued.finish(withError: TestError("u")))
    queue.add(unqueued)
    scheduler.run()
    #expect(unqueued.errors as? [TestError] == [TestError("u")])
  }

  @Test("F2: a finish inside execute() takes effect after that returned")
  func insideExecute() {
    final class Tail: Procedure, @unchecked Sendable {
      let trace = Recorder<String>()
      override func execute() {
        finish()
        trace.note("tail, finished \(isFinished)")
      }
      override func procedureWillFinish(withErrors errors: [any Error]) { trace.note("willFinish") }
    }
    let procedure = Tail()
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.trace.events == ["tail, finished false", "willFinish"])
  }

  @Test("F3: each of 2,000 procedures finishes exactly once, whatever cancels and fails them")
  func exactlyOnce() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 3)
    let finishes = Counter()
    var procedures: [Procedure] = []
    for index in 0..<2_000 {
      let procedure = BlockProcedure { if index % 7 == 0 { throw TestError() } }
      procedure.addDidFinishBlockObserver { _, _ in finishes.increment() }
      if index % 3 == 0, let previous = procedures.last { procedure.add(dependency: previous) }
      procedures.append(procedure)
    }
    queue.add(procedures)
    await withTaskGroup { group in
      for offset in 0..<2 {
        group.addTask { [procedures] in
          for index in stride(from: offset, to: 2_000, by: 5) { procedures[index].cancel() }
        }
      }
    }
    await queue.waitUntilAllFinished()
    #expect(finishes.value == 2_000)
    #expect(procedures.allSatisfy { $0.isFinished })
  }

  @Test("F4: a finished procedure releases observers, dependencies, dependents and its queue")
  func letsGo() {
    let released = Counter()
    var queue: ProcedureQueue? = ProcedureQueue(scheduler: scheduler)
    weak let queueReference = queue
    let token = CancellationTokenSource()
    let first = TracedProcedure("first")
    var second: TracedProcedure? = TracedProcedure("second")
    weak let secondReference = second
    let tracker = Tracker { released.increment() }
    first.addDidFinishBlockObserver { [tracker] procedure, _ in _ = (tracker, procedure) }
    first.addDidCancelBlockObserver { [first] _, _ in _ = first }
    first.cancellationToken.onCancel { [first] in _ = first }
    first.cancel(when: token.token)
    second?.add(dependency: first)
    queue?.add(first, second!)
    scheduler.run()
    second = nil
    queue = nil
    #expect(first.isFinished && first.dependencies.isEmpty)
    #expect(secondReference == nil)
    #expect(queueReference == nil)
    withExtendedLifetime(tracker) {}
  }

  @Test("F4: a whole graph is released after it ran")
  func noCycle() {
    let released = Counter()
    final class Holder: Procedure, @unchecked Sendable {
      let released: Counter
      init(_ released: Counter) {
        self.released = released
        super.init()
      }
      override func execute() { finish() }
      deinit { released.increment() }
    }
    do {
      let queue = makeQueue()
      let nodes = (0..<100).map { _ in Holder(released) }
      for index in 1..<100 { nodes[index].add(dependency: nodes[index / 2]) }
      for node in nodes { node.addDidFinishBlockObserver { _, _ in _ = node } }
      queue.add(GroupProcedure(children: nodes))
      scheduler.run()
    }
    #expect(released.value == 100)
  }

  @Test("a wait ends with the outcome; cancelling the waiter ends only the wait")
  func waiting() async {
    let queue = ProcedureQueue()
    let procedure = TracedProcedure(end: .whenTold)
    queue.add(procedure)
    let waiter = Task { await procedure.waitUntilFinished() }
    waiter.cancel()
    let outcome = await waiter.value
    #expect(outcome == .cancelled([CancellationError()]))
    #expect(!procedure.isCancelled)
    async let second = procedure.waitUntilFinished()
    // Refused until it has started.
    #expect(await eventually { procedure.finish(withError: TestError("e")) })
    #expect(await second == .failed([TestError("e")]))
    #expect(await procedure.waitUntilFinished() == .failed([TestError("e")]))
  }
}
