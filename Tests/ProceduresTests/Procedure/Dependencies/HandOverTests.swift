import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

/// Where and when the closures run that hand a value over: they are user code of their target.
@Suite struct HandOverTests {
  private let scheduler = ManualScheduler()

  @Test(
    "T2: from a finished source, nothing runs on the stack of the caller that enqueues or injects")
  func notOnTheCallersStack() {
    let trace = Recorder<String>()
    let queue = ProcedureQueue(scheduler: scheduler)
    let source = ResultProcedure { 7 }
    queue.add(source)
    scheduler.run()
    let target = TransformProcedure<Int, Int> { $0 + 1 }
    target.injectResult(from: source) { value in
      trace.note("transform")
      return value
    }
    queue.add(target)
    target.inject(dependency: source) { _, _, _ in trace.note("inject") }
    #expect(trace.events.isEmpty && target.isPending)
    scheduler.run()
    #expect(trace.events == ["transform", "inject"])
    #expect(try! target.output?.get() == 8)
  }

  @Test("T1: hand-overs of one target overlap neither each other nor its observers")
  func overlap() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let target = TracedProcedure()
      let inside = Counter()
      let total = Counter()
      let visit: @Sendable () -> Void = {
        inside.increment()
        total.increment()
        inside.decrement()
      }
      let sources = (0..<8).map { _ in BlockProcedure {} }
      for source in sources { target.inject(dependency: source) { _, _, _ in visit() } }
      target.addWillExecuteBlockObserver { _, _ in visit() }
      target.add(observer: BlockObserver(didAttach: { _ in visit() }))
      queue.add(target)
      queue.add(sources)
      _ = await target.waitUntilFinished()
      #expect(inside.highest == 1 && total.value == 10)
      #expect(target.dependencies.isEmpty)
    }
  }

  @Test("T1: while an observer of the target runs, a hand-over waits, and then comes")
  func waitsForTheTurn() async {
    let queue = ProcedureQueue()
    let (entered, release) = (Gate(), Gate())
    let trace = Recorder<String>()
    let source = TracedProcedure(end: .whenTold)
    let target = TracedProcedure()
    target.add(
      observer: BlockObserver(didAttach: { _ in
        entered.open()
        release.block()
        trace.note("attached")
      }))
    target.inject(dependency: source) { _, _, _ in trace.note("handed over") }
    queue.add(source, target)
    // In the turn that the new observer asks for.
    target.add(observer: BlockObserver(didAttach: { _ in }))
    await entered.wait()
    // Refused until it has started.
    while !source.finish() { await Task.yield() }
    _ = await source.waitUntilFinished()
    #expect(trace.events.isEmpty && target.isPending)
    release.open()
    _ = await target.waitUntilFinished()
    #expect(trace.events == ["attached", "handed over"])
  }

  @Test("T3: a hand-over runs where the queue of its target says")
  func underlyingQueue() async throws {
    let key = DispatchSpecificKey<Bool>()
    let own = DispatchQueue(label: "own")
    own.setSpecific(key: key, value: true)
    let source = ResultProcedure { 7 }
    let target = TransformProcedure<Int, Bool?> { _ in DispatchQueue.getSpecific(key: key) }
    target.injectResult(from: source) { value in
      #expect(DispatchQueue.getSpecific(key: key) == true)
      return value
    }
    ProcedureQueue(underlyingQueue: own).add(target)
    ProcedureQueue().add(source)
    #expect(try await target.value == true)
  }

  @Test("C1: a hand-over that comes after the target's cancel is not called")
  func cancelled() {
    let trace = Recorder<String>()
    let queue = ProcedureQueue(scheduler: scheduler)
    let source = TracedProcedure("source", end: .whenTold)
    let target = TracedProcedure("target", trace: trace)
    target.inject(dependency: source) { _, _, _ in trace.note("handed over") }
    queue.add(source, target)
    scheduler.run()
    source.finish()
    target.cancel()
    scheduler.run()
    #expect(
      trace.events == [
        "target procedureDidCancel", "target procedureWillFinish", "target procedureDidFinish",
      ])
  }

  @Test("a hand-over that fails ends a long line of targets without recursion")
  func longLineFails() async {
    let last = await onSmallStack {
      let scheduler = ManualScheduler()
      let queue = ProcedureQueue(scheduler: scheduler)
      let first = ResultProcedure<Int> { throw TestError("e") }
      var line: [TransformProcedure<Int, Int>] = []
      for _ in 0..<Rounds.size(100_000, otherwise: 3_000) {
        let next = TransformProcedure<Int, Int> { $0 }
        if let last = line.last {
          next.injectResult(from: last)
        } else {
          next.injectResult(from: first)
        }
        line.append(next)
      }
      queue.add(line)
      queue.add(first)
      scheduler.run()
      return line.last!.outcome
    }
    #expect(last?.isCancelled == true)
  }
}
