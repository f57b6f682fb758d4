import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

/// A procedure that waits for an observer which is called elsewhere says so.
@Suite(.hangLimit) struct AwaitedObserverTests {
  private let scheduler = ManualScheduler()
  private let time = TestClock()
  private let diagnostics = Recorder<ProcedureDiagnostic>()
  /// Calls nothing until it is resumed: what a blocked main thread is to the main actor.
  private let blocked = DispatchQueue(label: "blocked", attributes: .initiallyInactive)

  private func makeQueue() -> ProcedureQueue {
    let queue = ProcedureQueue(name: "work", scheduler: scheduler, clock: time.clock)
    queue.diagnosticsHandler = { [diagnostics] in diagnostics.note($0) }
    queue.waitReportDelay = .seconds(10)
    return queue
  }

  /// Lets what was asked for on the queue happen, and the turns that follow.
  private func unblock() {
    blocked.activate()
    blocked.sync {}
    scheduler.run()
  }

  @Test(
    "a snapshot says that a finished procedure waits for an observer, and that others wait for it")
  func finished() {
    let queue = makeQueue()
    let procedure = TracedProcedure("p", end: .itself)
    let dependent = TracedProcedure("after", end: .itself)
    dependent.add(dependency: procedure)
    procedure.addDidFinishBlockObserver(synchronizedWith: blocked) {}
    queue.add(procedure, dependent)
    scheduler.run()
    #expect(
      "\(queue.snapshot())" == """
        'work' (2 unfinished)
          'p' finished: it waits for an observer on queue 'blocked'
          'after' pending: it waits for 'p'
        """)
    #expect(queue.snapshot().mermaid.contains("p2 --> p1"))
    unblock()
    #expect(queue.count == 0 && time.pendingCount == 0)
  }

  @Test("a snapshot says in every state that a procedure waits for the main actor")
  func otherStates() {
    let queue = makeQueue()
    let started = TracedProcedure("started", end: .itself)
    started.addWillExecuteBlockObserver(synchronizedWith: blocked) {}
    let executing = TracedProcedure("executing", end: .itself)
    executing.addDidExecuteBlockObserver(synchronizedWith: blocked) {}
    let finishing = TracedProcedure("finishing", end: .itself)
    finishing.addWillFinishBlockObserver(synchronizedWith: blocked) {}
    queue.add(started, executing, finishing)
    scheduler.run()
    for entry in queue.snapshot().entries {
      #expect(entry.obstacle == "it waits for an observer on queue 'blocked'", "\(entry.name)")
      #expect("\(entry.state)" == entry.name)
    }
    unblock()
    #expect(queue.count == 0)
  }

  @Test("an awaited observer is reported once, after a while, with what must not be blocked")
  func reported() {
    let queue = makeQueue()
    let procedure = TracedProcedure("p", end: .itself)
    procedure.addDidFinishBlockObserver(synchronizedWith: blocked) {}
    queue.add(procedure)
    scheduler.run()
    time.advance(by: .seconds(9))
    #expect(diagnostics.events.isEmpty)
    time.advance(by: .seconds(60))
    #expect(diagnostics.events.map(\.code) == [.observerAwaited])
    #expect(diagnostics.events[0].age == .seconds(10))
    #expect(diagnostics.events[0].procedureName == "p")
    #expect(
      "\(diagnostics.events[0])"
        == "'p' is finished and has waited for an observer on queue 'blocked' for 10 seconds: "
        + "nothing may block that queue meanwhile.")
    unblock()
    #expect(queue.count == 0 && time.pendingCount == 0)
  }

  @Test("an observer that returns in time is not reported, and its timer goes with the procedure")
  func inTime() {
    let queue = makeQueue()
    blocked.activate()
    let procedure = TracedProcedure("p", end: .whenTold)
    // A handler that its work could have: no look asks whether `finish()` was forgotten.
    _ = procedure.cancellationToken
    procedure.addWillExecuteBlockObserver(synchronizedWith: blocked) {}
    queue.add(procedure)
    scheduler.run()
    blocked.sync {}
    scheduler.run()
    #expect(procedure.isExecuting)
    time.advance(by: .seconds(100))
    #expect(diagnostics.events.isEmpty)
    procedure.addDidFinishBlockObserver(synchronizedWith: blocked) {}
    procedure.finish()
    scheduler.run()
    blocked.sync {}
    scheduler.run()
    #expect(queue.count == 0 && time.pendingCount == 0 && diagnostics.events.isEmpty)
  }

  @Test("Q7: procedures that wait for each other are found while observers are awaited elsewhere")
  func cycles() {
    let queue = makeQueue()
    let (a, b) = (TracedProcedure("a", end: .itself), TracedProcedure("b", end: .itself))
    a.addDidAttachObserver(on: blocked)
    a.add(dependency: b)
    b.add(dependency: a)
    queue.add(a, b)
    scheduler.run()
    // While it was pending, it was the dependency that it waited for, not the observer.
    #expect(diagnostics.events.map(\.code) == [.waitCycle])
    let left = queue.snapshot().entries
    #expect(left.map(\.name) == ["a"] && left[0].isCancelled)
    #expect(left[0].obstacle == "it waits for an observer on queue 'blocked'")
    unblock()
    #expect(queue.count == 0)
  }

  @Test(
    "Q7: a group whose observer is awaited elsewhere is late, and not in a cycle with its child")
  func busyGroup() {
    let queue = makeQueue()
    let child = TracedProcedure("child", end: .whenTold)
    let group = GroupProcedure(name: "group", child)
    let after = TracedProcedure("after", end: .itself)
    after.add(dependency: group)
    queue.add(group, after)
    scheduler.run()
    group.addDidAttachObserver(on: blocked)
    child.finish()
    scheduler.run()
    // The child waits for the answer of its group, and the group for its observer.
    #expect(
      "\(queue.snapshot())" == """
        'work' (2 unfinished)
          'group' executing: it waits for an observer on queue 'blocked'
            'child' finishing: its group 'group' has not decided about its errors
          'after' pending: it waits for 'group'
        """)
    time.advance(by: .seconds(5))
    unblock()
    #expect(diagnostics.events.isEmpty)
    #expect(group.outcome == .succeeded && after.outcome == .succeeded && queue.count == 0)
  }

  @Test(
    "a main thread that blocks while an observer needs the main actor is reported, in real time")
  func mainActor() async {
    blocked.activate()
    await #expect(processExitsWith: .success) {
      await MainActor.run {
        let queue = ProcedureQueue(name: "work")
        let reported = Gate()
        queue.waitReportDelay = .milliseconds(20)
        queue.diagnosticsHandler = { diagnostic in
          precondition(diagnostic.code == .observerAwaited)
          precondition("\(diagnostic)".contains("an observer on the main actor"))
          precondition("\(diagnostic)".contains("blockUntilAllFinished()"))
          reported.open()
        }
        let procedure = BlockProcedure(name: "p") {}
        procedure.addDidFinishBlockObserver { @MainActor in }
        queue.add(procedure)
        reported.block()
        let line = "'p' finished: it waits for an observer on the main actor"
        precondition("\(queue.snapshot())".contains(line), "\(queue.snapshot())")
      }
    }
  }
}

extension Procedure {
  fileprivate func addDidAttachObserver(on queue: DispatchQueue) {
    add(observer: BlockObserver(synchronizedWith: queue, didAttach: { _ in }))
  }
}
