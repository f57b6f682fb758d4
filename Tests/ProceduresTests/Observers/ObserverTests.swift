import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ObserverTests {
  @Test("O3: 70,000 observers hold an event, and the last that releases it lets it go on")
  func manyHolds() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = TracedProcedure()
    let held = Recorder<PendingEvent>()
    let count = 70_000
    for _ in 0..<count {
      procedure.addWillExecuteBlockObserver { _, pending in held.note(pending) }
    }
    queue.add(procedure)
    scheduler.run()
    let events = held.events
    #expect(events.count == count && procedure.state == .started)
    for event in events.dropLast() { event.release() }
    scheduler.run()
    #expect(procedure.state == .started)
    events.last?.release()
    scheduler.run()
    #expect(procedure.isFinished)
  }

  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("O1: one added late is called, in a turn, for a cancel or finish that already happened")
  func late() async {
    let procedure = TracedProcedure(end: .whenTold)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    procedure.cancel(withError: TestError("c"))
    scheduler.run()
    procedure.addDidCancelBlockObserver { [trace] _, errors in trace.note("late cancel \(errors)") }
    #expect(trace.events.isEmpty)
    scheduler.run()
    #expect(trace.events == ["late cancel [c]"])
    procedure.finish()
    scheduler.run()
    let gate = Gate()
    procedure.add(observer: TraceObserver(trace: trace, label: " afterwards"))
    procedure.addDidFinishBlockObserver { [trace] procedure, errors in
      trace.note("late finish \(errors) \(procedure.isFinished)")
      gate.open()
    }
    await gate.wait()
    #expect(
      trace.events.dropFirst() == [
        "p didAttach afterwards", "p didCancel afterwards", "p didFinish afterwards",
        "late finish [c] true",
      ])
  }

  @Test("O1: an observer that is added inside its event is called for it once")
  func addedInsideTheEvent() {
    let procedure = TracedProcedure()
    procedure.addDidFinishBlockObserver { [trace] procedure, _ in
      procedure.addDidFinishBlockObserver { [trace] _, _ in trace.note("inner") }
      trace.note("outer")
    }
    makeQueue().add(procedure)
    scheduler.run()
    #expect(trace.events == ["outer", "inner"])
  }

  @Test(
    "X1, O1: an observer that is added inside execute() is attached first, and misses nothing later"
  )
  func addedInsideExecute() {
    final class Adding: Procedure, @unchecked Sendable {
      let trace = Recorder<String>()
      override func execute() {
        name = "p"
        add(observer: TraceObserver(trace: trace))
        finish()
      }
    }
    let procedure = Adding()
    makeQueue().add(procedure)
    scheduler.run()
    #expect(
      procedure.trace.events == ["p didAttach", "p didExecute", "p willFinish", "p didFinish"])
  }

  @Test("O1: the only observer is released after the finish, also if it does not want that")
  func onlyObserverIsReleased() {
    let procedure = TracedProcedure()
    weak var kept: Recorder<String>?
    let registration: ObserverRegistration
    do {
      let recorder = Recorder<String>()
      kept = recorder
      registration = procedure.addWillExecuteBlockObserver { recorder.note("will execute") }
    }
    #expect(kept != nil)
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.isFinished && kept == nil)
    let isTakenOff = registration.remove()
    #expect(!isTakenOff)
  }

  @Test("O1: the registration takes it off, also when an earlier observer does so")
  func removal() {
    let procedure = TracedProcedure(end: .whenTold)
    let never = procedure.addDidFinishBlockObserver { [trace] _, _ in trace.note("never") }
    #expect(never.remove())
    #expect(!never.remove())
    let slot = Recorder<ObserverRegistration>()
    procedure.addDidFinishBlockObserver { _, _ in #expect(slot.events[0].remove()) }
    slot.note(procedure.addDidFinishBlockObserver { [trace] _, _ in trace.note("never either") })
    makeQueue().add(procedure)
    scheduler.run()
    procedure.finish()
    scheduler.run()
    #expect(trace.events.isEmpty && !slot.events[0].remove())
  }

  @Test("O1: observers are released after didFinish, removed ones at once")
  func released() {
    let released = Counter()
    let procedure = TracedProcedure(end: .whenTold)
    func add() -> ObserverRegistration {
      let tracker = Tracker { released.increment() }
      return procedure.addDidFinishBlockObserver { _, _ in withExtendedLifetime(tracker) {} }
    }
    _ = add()
    let second = add()
    second.remove()
    makeQueue().add(procedure)
    scheduler.run()
    procedure.finish()
    scheduler.run()
    withExtendedLifetime(second) { #expect(released.value >= 1) }
  }

  @Test("O2: synchronizedWith calls back on that queue, in order, while the turn waits by message")
  func synchronized() async {
    let key = DispatchSpecificKey<Bool>()
    let other = DispatchQueue(label: "other")
    other.setSpecific(key: key, value: true)
    let note: @Sendable (String) -> Void = { [trace] in
      trace.note("\($0) \(DispatchQueue.getSpecific(key: key) ?? false)")
    }
    let procedure = BlockProcedure { note("execute") }
    procedure.addWillExecuteBlockObserver(synchronizedWith: other) { _, _ in note("willExecute") }
    procedure.addDidExecuteBlockObserver { _ in note("didExecute") }
    procedure.addDidFinishBlockObserver(synchronizedWith: other) { _, _ in note("didFinish 1") }
    procedure.addDidFinishBlockObserver { _, _ in note("didFinish 2") }
    _ = await ProcedureQueue().run(procedure)
    #expect(
      trace.events == [
        "willExecute true", "execute false", "didExecute false", "didFinish 1 true",
        "didFinish 2 false",
      ])
  }

  @Test(
    "X1, O2: an event that waits for an observer elsewhere goes on with the next observer; its override is called once"
  )
  func putAside() async {
    let queue = ProcedureQueue()
    let elsewhere = DispatchQueue(label: "elsewhere")
    let delegate = TracingDelegate(trace)
    queue.delegate = delegate
    let procedure = TracingProcedure(trace)
    let note: @Sendable (String) -> Void = { [trace] in trace.note($0) }
    for (place, name) in [(nil, "a"), (elsewhere, "b"), (nil, "c"), (elsewhere, "d")] {
      procedure.add(
        observer: BlockObserver(
          synchronizedWith: place, didAttach: { _ in note("\(name) attach") },
          willExecute: { _, _ in note("\(name) willExecute") },
          didCancel: { _, _ in note("\(name) didCancel") },
          willFinish: { _, _, _ in note("\(name) willFinish") },
          didFinish: { _, _ in note("\(name) didFinish") }))
    }
    _ = await queue.run(procedure)
    func each(_ event: String) -> [String] { ["a", "b", "c", "d"].map { "\($0) \(event)" } }
    var expected = each("attach") + each("willExecute") + ["execute", "cancel"]
    expected += each("didCancel") + ["willFinish"] + each("willFinish") + ["delegate willFinish"]
    expected += ["didFinish"] + each("didFinish") + ["delegate didFinish"]
    #expect(trace.events == expected)
  }

  @Test(
    "O1: each of several late observers receives all that it missed before the next one does")
  func severalLate() {
    let procedure = TracedProcedure()
    let note: @Sendable (String) -> Void = { [trace] in trace.note($0) }
    procedure.addDidFinishBlockObserver { procedure, _ in
      for name in ["a", "b"] {
        procedure.add(
          observer: BlockObserver(
            didAttach: { _ in note("\(name) attach") },
            didCancel: { _, _ in note("\(name) cancel") },
            didFinish: { _, _ in note("\(name) finish") }))
      }
    }
    makeQueue().add(procedure)
    procedure.cancel()
    scheduler.run()
    let missed = ["attach", "cancel", "finish"]
    #expect(trace.events == missed.map { "a \($0)" } + missed.map { "b \($0)" })
  }

  @Test("O2: two procedures synchronised with the same queues both ways do not deadlock")
  func bothWays() async {
    let (a, b) = (DispatchQueue(label: "a"), DispatchQueue(label: "b"))
    for _ in 0..<100 {
      let onA = ProcedureQueue(underlyingQueue: a)
      let onB = ProcedureQueue(underlyingQueue: b)
      let (first, second) = (BlockProcedure {}, BlockProcedure {})
      first.addDidFinishBlockObserver(synchronizedWith: b) { _, _ in }
      second.addDidFinishBlockObserver(synchronizedWith: a) { _, _ in }
      onA.add(first)
      onB.add(second)
      #expect(await first.waitUntilFinished() == .succeeded)
      #expect(await second.waitUntilFinished() == .succeeded)
    }
  }

  @Test(
    "O3: a kept pending event holds the procedure; release(), or dropping the event, lets it go on")
  func pendingEvents() {
    let kept = Recorder<PendingEvent>()
    let procedure = TracedProcedure(trace: trace)
    procedure.addWillExecuteBlockObserver { _, pending in kept.note(pending) }
    procedure.addWillFinishBlockObserver { _, _, pending in pending.release() }
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.state == .started && trace.events.isEmpty)
    kept.events[0].release()
    kept.events[0].release()
    scheduler.run()
    #expect(procedure.isFinished)
  }

  @Test("O3: dropping the last reference to a pending event lets it go on; it cannot be forgotten")
  func droppedPendingEvent() {
    final class Keeper: @unchecked Sendable { var pending: PendingEvent? }
    let keeper = Keeper()
    let procedure = TracedProcedure()
    procedure.addWillFinishBlockObserver { _, _, pending in keeper.pending = pending }
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.state == .finishing)
    keeper.pending = nil
    scheduler.run()
    #expect(procedure.isFinished)
  }

  @Test("O3: a cancel makes a held execute event moot: the procedure finishes at once")
  func cancelWhileHeld() {
    let kept = Recorder<PendingEvent>()
    let procedure = TracedProcedure(trace: trace)
    procedure.addWillExecuteBlockObserver { _, pending in kept.note(pending) }
    makeQueue().add(procedure)
    scheduler.run()
    procedure.cancel()
    scheduler.run()
    #expect(procedure.isFinished && !trace.events.contains("p execute"))
    kept.events[0].release()
    scheduler.run()
  }

  @Test(
    "O3, F2, X4: a finish makes a held execute event moot: the procedure finishes without execute()",
    arguments: [false, true])
  func finishWhileHeld(isInObserver: Bool) {
    let kept = Recorder<PendingEvent>()
    let procedure = TracedProcedure(trace: trace)
    procedure.addWillExecuteBlockObserver { procedure, pending in
      kept.note(pending)
      if isInObserver { #expect(procedure.finish()) }
    }
    procedure.addWillExecuteBlockObserver { _, pending in kept.note(pending) }
    makeQueue().add(procedure)
    scheduler.run()
    if !isInObserver { #expect(procedure.finish()) }
    scheduler.run()
    #expect(procedure.outcome == .succeeded && !trace.events.contains("p execute"))
    for pending in kept.events { pending.release() }
    scheduler.run()
  }

  @Test(
    "X1: observer values get the same events as the block forms, for any number of procedures")
  func observerValues() {
    let note: @Sendable (String) -> Void = { [trace] in trace.note($0) }
    let all = BlockObserver(
      didAttach: { _ in note("all didAttach") }, willExecute: { _, _ in note("all willExecute") },
      didExecute: { _ in note("all didExecute") }, didCancel: { _, _ in note("all didCancel") },
      willFinish: { _, _, _ in note("all willFinish") },
      didFinish: { _, _ in note("all didFinish") })
    let queue = makeQueue()
    for _ in 0..<2 {
      let procedure = TracedProcedure(end: .whenToldOrCancelled)
      procedure.addWillExecuteBlockObserver { note("willExecute") }
      procedure.addDidExecuteBlockObserver { note("didExecute") }
      procedure.add(observer: DidCancelObserver { _, _ in note("didCancel") })
      procedure.addWillFinishBlockObserver { note("willFinish") }
      procedure.addDidFinishBlockObserver { _, _ in note("didFinish") }
      procedure.add(observer: all)
      queue.add(procedure)
      scheduler.run()
      procedure.cancel()
      scheduler.run()
    }
    let events = ["willExecute", "didExecute", "didCancel", "willFinish", "didFinish"]
    let expected = ["all didAttach"] + events.flatMap { [$0, "all \($0)"] }
    #expect(trace.events == expected + expected)
    #expect(BlockObserver(didFinish: { _, _ in }).events == .didFinish)
  }

  @Test("T1: no two pieces of user code of one procedure overlap, whatever cancels and observes it")
  func noOverlap() async {
    final class Exclusive: Procedure, @unchecked Sendable {
      // Unprotected on purpose: ThreadSanitizer sees an overlap, and so does the check.
      var depth = 0
      var calls = 0
      func enter(_ body: () -> Void = {}) {
        depth += 1
        precondition(depth == 1)
        calls += 1
        body()
        depth -= 1
      }
      override func execute() { enter() }
      override func procedureDidCancel(withErrors errors: [any Error]) {
        enter()
        if isExecuting { finish() }
      }
      override func procedureWillFinish(withErrors errors: [any Error]) { enter() }
      override func procedureDidFinish(withErrors errors: [any Error]) { enter() }
    }
    let other = DispatchQueue(label: "other")
    let queue = ProcedureQueue()
    for round in 0..<300 {
      let procedure = Exclusive()
      procedure.addWillExecuteBlockObserver { procedure, _ in procedure.enter() }
      procedure.addDidCancelBlockObserver(synchronizedWith: other) { procedure, _ in
        procedure.enter()
      }
      procedure.addDidFinishBlockObserver { procedure, _ in procedure.enter() }
      queue.add(procedure)
      await withTaskGroup { group in
        group.addTask { procedure.cancel() }
        group.addTask {
          procedure.addDidFinishBlockObserver { procedure, _ in procedure.enter() }
        }
      }
      _ = await procedure.waitUntilFinished()
      #expect(procedure.isCancelled, "round \(round)")
    }
    await queue.waitUntilAllFinished()
  }
}

/// Notes its overrides, and is cancelled when it executes.
private final class TracingProcedure: Procedure, @unchecked Sendable {
  private let trace: Recorder<String>

  init(_ trace: Recorder<String>) { self.trace = trace }

  override func execute() {
    trace.note("execute")
    cancel()
    finish()
  }

  override func procedureDidCancel(withErrors errors: [any Error]) { trace.note("cancel") }
  override func procedureWillFinish(withErrors errors: [any Error]) { trace.note("willFinish") }
  override func procedureDidFinish(withErrors errors: [any Error]) { trace.note("didFinish") }
}

private final class TracingDelegate: ProcedureQueueDelegate {
  private let trace: Recorder<String>

  init(_ trace: Recorder<String>) { self.trace = trace }

  func procedureQueue(
    _ queue: ProcedureQueue, willFinish procedure: Procedure, withErrors errors: [any Error]
  ) { trace.note("delegate willFinish") }

  func procedureQueue(
    _ queue: ProcedureQueue, didFinish procedure: Procedure, withErrors errors: [any Error]
  ) { trace.note("delegate didFinish") }
}
