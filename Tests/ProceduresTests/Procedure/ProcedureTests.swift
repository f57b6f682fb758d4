import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

/// States, turns and the order of a life without cancels.
@Suite(.hangLimit) struct ProcedureTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("S1: a procedure goes through its states, each once, never backwards")
  func states() {
    final class Watcher: Procedure, @unchecked Sendable {
      let states = Recorder<ProcedureState>()
      override func execute() {
        states.note(state)
        finish()
        states.note(state)
      }
      override func procedureWillFinish(withErrors errors: [any Error]) { states.note(state) }
      override func procedureDidFinish(withErrors errors: [any Error]) { states.note(state) }
    }
    let procedure = Watcher()
    procedure.addWillExecuteBlockObserver { procedure, _ in procedure.states.note(procedure.state) }
    procedure.states.note(procedure.state)
    makeQueue().add(procedure)
    procedure.states.note(procedure.state)
    scheduler.run()
    #expect(
      procedure.states.events == [
        .initialized, .pending, .started, .executing, .executing, .finishing, .finished,
      ])
  }

  @Test("S1: started → finishing skips executing; cancelled is a flag, not a state")
  func startedToFinishing() {
    let procedure = TracedProcedure(trace: trace)
    let states = Recorder<ProcedureState>()
    procedure.addWillExecuteBlockObserver { procedure, _ in
      states.note(procedure.state)
      procedure.cancel()
    }
    procedure.addWillFinishBlockObserver { procedure, _, _ in states.note(procedure.state) }
    makeQueue().add(procedure)
    scheduler.run()
    #expect(states.events == [.started, .finishing])
    #expect(procedure.state == .finished && procedure.isCancelled)
    #expect(ProcedureState.allCases == ProcedureState.allCases.sorted())
  }

  @Test("S2: state and flags can be read from any thread while execute() blocks its worker")
  func readableWhileBlocked() async {
    let (entered, release) = (Gate(), Gate())
    let procedure = BlockProcedure {
      entered.open()
      release.block()
    }
    let queue = ProcedureQueue.withThreadOfItsOwn()
    queue.add(procedure)
    await entered.wait()
    #expect(procedure.isEnqueued && procedure.isExecuting)
    #expect(!procedure.isPending && !procedure.isFinished && !procedure.isCancelled)
    #expect(!procedure.failed && procedure.errors.isEmpty)
    #expect(procedure.outcome == nil)
    procedure.cancel(withError: TestError())
    #expect(procedure.isCancelled && procedure.failed && procedure.errors.count == 1)
    release.open()
    _ = await procedure.waitUntilFinished()
  }

  @Test("S4: outcome is nil until finished, then succeeded, failed or cancelled")
  func outcome() {
    let succeeded = TracedProcedure()
    let failed = TracedProcedure(failure: TestError("e"))
    let cancelled = TracedProcedure()
    let queue = makeQueue()
    queue.add(succeeded, failed, cancelled)
    cancelled.cancel(withError: TestError("c"))
    #expect(succeeded.outcome == nil)
    #expect(cancelled.outcome == nil)
    scheduler.run()
    #expect(succeeded.outcome == .succeeded)
    #expect(failed.outcome == .failed([TestError("e")]))
    #expect(cancelled.outcome == .cancelled([TestError("c")]))
    #expect(ProcedureOutcome.cancelled([]) == .cancelled([]))
  }

  @Test("T2: cancel, finish and add(observer:) return before anything of the turn runs")
  func nothingOnTheCallersStack() {
    let procedure = TracedProcedure(trace: trace, end: .whenTold)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    #expect(trace.events == ["p execute"])
    procedure.cancel()
    procedure.observeEverything()
    procedure.finish()
    #expect(trace.events == ["p execute"])
    scheduler.run()
    #expect(
      trace.events == [
        "p execute", "p procedureDidCancel", "p didAttach", "p didCancel", "p procedureWillFinish",
        "p willFinish", "p procedureDidFinish", "p didFinish",
      ])
  }

  @Test("T2: a turn without a queue runs on a global Dispatch queue")
  func turnWithoutQueue() async {
    let key = DispatchSpecificKey<Bool>()
    let mine = DispatchQueue(label: "mine")
    mine.setSpecific(key: key, value: true)
    let procedure = TracedProcedure(trace: trace)
    let gate = Gate()
    procedure.addDidCancelBlockObserver { [trace] _, _ in
      trace.note("on mine: \(DispatchQueue.getSpecific(key: key) ?? false)")
      gate.open()
    }
    mine.sync { procedure.cancel() }
    await gate.wait()
    #expect(trace.events == ["p procedureDidCancel", "on mine: false"])
  }

  @Test("T3: everything of a procedure runs on the queue's underlying queue")
  func underlyingQueue() async {
    let key = DispatchSpecificKey<Bool>()
    let underlying = DispatchQueue(label: "underlying")
    underlying.setSpecific(key: key, value: true)
    let queue = ProcedureQueue(underlyingQueue: underlying)
    let note: @Sendable (String) -> Void = { [trace] in
      trace.note("\($0) \(DispatchQueue.getSpecific(key: key) ?? false)")
    }
    let child = BlockProcedure { note("child") }
    let block = BlockProcedure { note("execute") }
    block.addWillExecuteBlockObserver { _, _ in note("willExecute") }
    block.addDidFinishBlockObserver { _, _ in note("didFinish") }
    queue.add(block, GroupProcedure(child))
    await queue.waitUntilAllFinished()
    #expect(trace.events.allSatisfy { $0.hasSuffix("true") })
    #expect(trace.events.count == 4)
  }

  @Test("T3: events of children from before the enqueue take none of them off the queue")
  func childrenNotedBefore() async {
    let key = DispatchSpecificKey<Bool>()
    let underlying = DispatchQueue(label: "underlying")
    underlying.setSpecific(key: key, value: true)
    let queue = ProcedureQueue(underlyingQueue: underlying)
    let elsewhere = Counter()
    for _ in 0..<Rounds.few {
      let children = (0..<8).map { _ in
        BlockProcedure { if DispatchQueue.getSpecific(key: key) != true { elsewhere.increment() } }
      }
      let group = GroupProcedure(children: children)
      // Each asks for a turn, on a global queue: the group is on none yet.
      for child in children { child.add(observer: TraceObserver(trace: Recorder())) }
      children[0].cancel()
      queue.add(group)
      _ = await group.waitUntilFinished()
    }
    #expect(elsewhere.value == 0)
  }

  @Test(
    "T3: the worker that ends a group cancelled before its enqueue takes nothing else of the queue")
  func workerOfAnEarlierCancel() async {
    let queue = makeQueue()
    let other = TracedProcedure("other", trace: trace)
    let group = GroupProcedure(TracedProcedure("child", trace: trace))
    let added = Gate()
    group.children[0].addDidFinishBlockObserver { [scheduler] _, _ in
      // On a global queue, since the group was cancelled when it was on none.
      queue.add(group)
      scheduler.run()
      queue.add(other)
      added.open()
    }
    group.cancel()
    await added.wait()
    // Only the test's own scheduler may run them, now.
    while !(group.isFinished && other.isFinished) {
      scheduler.run()
      await Task.yield()
    }
    #expect(trace.events.contains("other execute") && !trace.events.contains("child execute"))
  }

  @Test("T3: on ProcedureQueue.main, execute() runs on the main queue")
  func mainQueue() async {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    let block = BlockProcedure { [trace] in
      trace.note("main: \(DispatchQueue.getSpecific(key: key) ?? false)")
    }
    let outcome = await ProcedureQueue.main.run(block)
    #expect(trace.events == ["main: true"])
    #expect(outcome == .succeeded)
  }

  @Test("T4: every callback may call everything, since no lock is held")
  func noLockIsHeld() {
    let queue = makeQueue()
    let poke: @Sendable (Procedure) -> Void = { procedure in
      _ = (procedure.description, queue.description, queue.count, queue.procedures)
      _ = (procedure.errors, procedure.outcome, procedure.dependencies, procedure.cancellationToken)
      procedure.name = "poked"
      procedure.add(observer: TraceObserver(trace: Recorder()))
      queue.isSuspended = false
    }
    let group = GroupProcedure()
    group.addWillExecuteBlockObserver { group, _ in
      poke(group)
      let child = TracedProcedure()
      child.addDidFinishBlockObserver { child, _ in poke(child) }
      group.add(child: child)
    }
    group.addWillAddProcedureBlockObserver { group, _ in poke(group) }
    group.addDidCancelBlockObserver { group, _ in
      poke(group)
      group.cancel()
    }
    group.addWillFinishBlockObserver { group, _, _ in poke(group) }
    group.addDidFinishBlockObserver { group, _ in poke(group) }
    group.cancellationToken.onCancel { [unowned group] in poke(group) }
    queue.add(group)
    scheduler.runOne()
    group.cancel()
    scheduler.run()
    #expect(group.isFinished)
  }

  @Test("T5: a burst of 3,000 procedures costs a few Dispatch submissions")
  func submissions() {
    let queue = makeQueue()
    queue.add((0..<3_000).map { _ in TracedProcedure() })
    #expect(scheduler.submissions == 1)
    scheduler.run()
    #expect(queue.count == 0)
    #expect(scheduler.submissions <= 3)
  }

  @Test("T5: a thousand groups make no Dispatch queue, and a few submissions")
  func submissionsOfGroups() {
    let queue = makeQueue()
    queue.add((0..<1_000).map { _ in GroupProcedure(TracedProcedure()) })
    scheduler.run()
    #expect(queue.count == 0)
    #expect(scheduler.submissions <= 3)
  }

  @Test(
    "X1: a life has its order, with overrides before observers, and observers in the order added")
  func order() {
    let procedure = TracedProcedure(trace: trace)
    procedure.add(observer: TraceObserver(trace: trace, label: " 1"))
    procedure.add(observer: TraceObserver(trace: trace, label: " 2"))
    let dependent = TracedProcedure("dependent", trace: trace)
    dependent.add(dependency: procedure)
    makeQueue().add(procedure, dependent)
    scheduler.run()
    #expect(
      trace.events.prefix(16) == [
        "p didAttach 1", "p didAttach 2", "p willExecute 1", "p willExecute 2", "p execute",
        "p didExecute 1", "p didExecute 2", "p procedureWillFinish", "p willFinish 1",
        "p willFinish 2", "p procedureDidFinish", "p didFinish 1", "p didFinish 2",
        "dependent execute", "dependent procedureWillFinish", "dependent procedureDidFinish",
      ])
  }

  @Test("X1: isFinished is false in willFinish and true in procedureDidFinish")
  func finishedFlag() {
    final class Watcher: Procedure, @unchecked Sendable {
      let flags = Recorder<Bool>()
      override func execute() { finish() }
      override func procedureWillFinish(withErrors errors: [any Error]) { flags.note(isFinished) }
      override func procedureDidFinish(withErrors errors: [any Error]) { flags.note(isFinished) }
    }
    let procedure = Watcher()
    procedure.addWillFinishBlockObserver { procedure, _, _ in
      procedure.flags.note(procedure.isFinished)
    }
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.flags.events == [false, false, true])
  }

  @Test("X2: no dependent starts and no wait returns before the didFinish observers returned")
  func didFinishComesFirst() async {
    let queue = ProcedureQueue()
    for _ in 0..<200 {
      let done = Counter()
      let first = BlockProcedure {}
      first.addDidFinishBlockObserver { _, _ in
        for _ in 0..<100 { _ = done.value }
        done.increment()
      }
      let second = BlockProcedure { if done.value != 1 { throw TestError("started early") } }
      second.add(dependency: first)
      queue.add(second, first)
      _ = await first.waitUntilFinished()
      #expect(done.value == 1)
      #expect(await second.waitUntilFinished() == .succeeded)
    }
  }

  @Test("X2: a group's didFinish comes after all its children's")
  func groupAfterChildren() {
    let children = (0..<3).map { TracedProcedure("c\($0)", trace: trace) }
    let group = GroupProcedure(children: children)
    group.name = "group"
    for procedure in children + [group] {
      procedure.addDidFinishBlockObserver { [trace] procedure, _ in
        trace.note("\(procedure.name) didFinish")
      }
    }
    makeQueue().add(group)
    scheduler.run()
    #expect(trace.events.last == "group didFinish")
    #expect(trace.events.filter { $0.hasSuffix("didFinish") }.count == 4)
  }

  @Test("X3: execute() that returns without finish() leaves it executing until finish() is called")
  func asynchronous() {
    let procedure = TracedProcedure(trace: trace, end: .whenTold)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.isExecuting && queue.count == 1)
    #expect(procedure.finish())
    scheduler.run()
    #expect(procedure.isFinished && queue.count == 0)
  }

  @Test(
    "X4: execute() is not called after a cancel or finish inside willExecute",
    arguments: [true, false])
  func endedInWillExecute(byCancel: Bool) {
    let procedure = TracedProcedure(trace: trace)
    procedure.addWillExecuteBlockObserver { procedure, _ in
      if byCancel { procedure.cancel() } else { procedure.finish(withError: TestError("w")) }
    }
    makeQueue().add(procedure)
    scheduler.run()
    #expect(!trace.events.contains("p execute"))
    #expect(procedure.outcome == (byCancel ? .cancelled([]) : .failed([TestError("w")])))
  }

  @Test("X5: execute() not overridden finishes with notImplemented, naming the type")
  func notImplemented() {
    final class Forgetful: Procedure, @unchecked Sendable {}
    let procedure = Forgetful()
    makeQueue().add(procedure)
    scheduler.run()
    #expect(
      procedure.errors as? [ProcedureError] == [.init(.notImplemented, procedure: "Forgetful")])
    #expect("\(procedure.errors[0])".contains("'Forgetful' does not override execute()"))
  }

  @Test("description of a procedure, a queue and an outcome read well in a log")
  func descriptions() {
    let procedure = TracedProcedure("upload", end: .whenTold)
    #expect(procedure.description == "'upload' (TracedProcedure, initialized)")
    let queue = ProcedureQueue(name: "images", maxConcurrentProcedureCount: 2, scheduler: scheduler)
    queue.add(procedure)
    queue.isSuspended = true
    #expect(queue.description == "'images' (1 unfinished, suspended, at most 2 at once)")
    procedure.cancel(withErrors: [TestError("no network")])
    #expect(
      procedure.description == "'upload' (TracedProcedure, pending, cancelled, errors: no network)")
    scheduler.run()
    #expect(BlockProcedure {}.description == "'BlockProcedure' (initialized)")
    #expect(procedure.outcome == .cancelled([TestError("no network")]))
  }
}
