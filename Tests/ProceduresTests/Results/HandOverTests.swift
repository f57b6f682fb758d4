import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

/// Where and when the closures run that hand a value over: they are user code of their target.
@Suite(.hangLimit) struct HandOverTests {
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
    #expect(await eventually { source.finish() })
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

  @Test(
    "R1: an output does not overtake a hand-over that waits for the turn: the last to finish counts"
  )
  func inOrder() async throws {
    let queue = ProcedureQueue()
    let (entered, release) = (Gate(), Gate())
    let (first, second) = (KeptOutput(), KeptOutput())
    let target = IdentityProcedure<Int>()
    target.add(
      observer: BlockObserver(didAttach: { _ in
        entered.open()
        release.block()
      }))
    target.injectResult(from: first.source, via: { $0 })
    target.injectResult(from: second.source)
    queue.add(first.source, second.source, target)
    target.add(observer: BlockObserver(didAttach: { _ in }))
    await entered.wait()
    await first.finish(with: 1)
    await second.finish(with: 2)
    #expect(target.input == nil)
    release.open()
    #expect(try await target.value == 2)
  }

  @Test("T1: the input does not change while a closure that hands something over runs")
  func inputStays() async throws {
    let queue = ProcedureQueue()
    let (entered, release) = (Gate(), Gate())
    let (first, second) = (BlockProcedure {}, KeptOutput())
    let inputs = Recorder<Int?>()
    let target = IdentityProcedure<Int>()
    target.input = 0
    target.inject(dependency: first) { target, _, _ in
      inputs.note(target.input)
      entered.open()
      release.block()
      inputs.note(target.input)
    }
    target.injectResult(from: second.source)
    queue.add(first, second.source, target)
    await entered.wait()
    await second.finish(with: 2)
    release.open()
    #expect(try await target.value == 2)
    #expect(inputs.events == [0, 0])
  }

  @Test("K7: captures of closures are released under no lock with a chain that was never added")
  func releasedWithTheChain() {
    let names = Recorder<String>()
    func makeLast() -> Procedure {
      let middle = TransformProcedure<Int, Int>(name: "middle") { $0 }
      let tracker = Tracker { [weak middle] in names.note(middle?.name ?? "gone") }
      middle.injectResult(from: ResultProcedure { 1 }) { value in
        withExtendedLifetime(tracker) { value }
      }
      let last = BlockProcedure {}
      last.add(dependency: middle)
      return last
    }
    _ = makeLast()
    #expect(names.events == ["middle"])
  }

  @Test(
    "F4: the closure goes with its target, though the source and another target are left",
    arguments: [true, false])
  func releasedWithTheTarget(isCancelled: Bool) async {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let source = ResultProcedure { 1 }
    let targets = (0..<2).map { _ in IdentityProcedure<Int>() }
    weak var kept: Tracker?
    do {
      let tracker = Tracker {}
      kept = tracker
      targets[0].injectResult(from: source) { value in withExtendedLifetime(tracker) { value } }
    }
    targets[1].injectResult(from: source) { $0 }
    queue.add(targets)
    scheduler.run()
    #expect(kept != nil)
    if isCancelled {
      targets[0].cancel()
    } else {
      targets[0].remove(dependency: source)
    }
    scheduler.run()
    #expect(targets[0].isFinished && !targets[1].isFinished)
    #expect(kept == nil)
    queue.add(source)
    scheduler.run()
    #expect(targets[1].input == 1 && targets[0].input == nil)
  }

  @Test(
    "O3: a source may finish while the finish of its cancelled target is held", arguments: [1, 100])
  func heldTarget(sourceCount: Int) async throws {
    let queue = ProcedureQueue()
    let sources = (0..<sourceCount).map { _ in KeptOutput() }
    let target = IdentityProcedure<Int>()
    let (isHeld, held) = (Gate(), Slot<PendingEvent>())
    for source in sources { target.injectResult(from: source.source) }
    target.addWillFinishBlockObserver { _, _, pending in
      held.value = pending
      isHeld.open()
    }
    queue.add(sources.map(\.source))
    queue.add(target)
    target.cancel()
    await isHeld.wait()
    for source in sources { await source.finish(with: 3) }
    #expect(target.state == .finishing && target.input == nil)
    held.value?.release()
    #expect(await target.waitUntilFinished() == .cancelled([]))
  }
}

/// A source that the framework keeps the output of, as of all ready-made ones, and that ends when
/// it is told.
private struct KeptOutput {
  let source: AsyncResultProcedure<Int>
  private let handle = Slot<FinishHandle<Int>>()

  init() {
    source = AsyncResultProcedure(.callback) { [handle] finish in handle.value = finish }
  }

  func finish(with value: Int) async {
    #expect(await eventually { handle.value != nil })
    handle.take()?(.success(value))
    await source.waitUntilFinished()
  }
}
