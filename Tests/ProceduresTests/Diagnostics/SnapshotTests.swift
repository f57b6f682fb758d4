import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct SnapshotTests {
  private let scheduler = ManualScheduler()
  private let domain = ExclusionDomain(name: "snapshots")

  private func executing(_ name: String) -> TracedProcedure {
    TracedProcedure(name, end: .whenTold)
  }

  @Test("a snapshot says what every unfinished procedure waits for")
  func everyKind() async {
    let queue = ProcedureQueue(
      name: "work", maxConcurrentProcedureCount: 5, scheduler: scheduler)
    let fetch = executing("fetch")
    fetch.add(condition: MutuallyExclusive(named: "disk", in: domain))
    let resize = executing("resize")
    resize.add(dependency: fetch)
    let report = executing("report")
    report.add(condition: MutuallyExclusive(named: "disk", in: domain))
    let answer = Gate()
    let asks = executing("asks")
    asks.add(
      condition: AsyncCondition {
        await answer.wait(); return true
      })
    let held = executing("held")
    let events = Recorder<PendingEvent>()
    held.addWillExecuteBlockObserver { _, event in events.note(event) }
    let unqueued = executing("unqueued")
    let remote = executing("remote")
    remote.add(dependency: unqueued)
    let child = executing("child")
    let group = GroupProcedure(child)
    group.name = "group"
    let suspended = GroupProcedure(executing("waits"))
    suspended.name = "suspended"
    suspended.isSuspended = true
    let last = executing("last")
    let filler = executing("filler")
    queue.add(fetch, resize, report)
    scheduler.run()
    queue.add(asks, held, remote, group, suspended, filler)
    scheduler.run()
    queue.add(last)
    scheduler.run()
    fetch.cancel()
    let text = "\(queue.snapshot())"
    #expect(
      text == """
        'work' (10 unfinished, at most 5 at once)
          'fetch' executing, cancelled: its next turn waits for a thread
          'resize' pending: it waits for 'fetch'
          'report' pending: it waits for 'disk', held by 'fetch'
          'asks' pending: condition 'AsyncCondition' has not answered
          'held' started: an observer holds its execute event back
          'remote' pending: it waits for 'unqueued'
          'group' executing: it waits for its children 'child'
            'child' executing: execute() has returned, waits for finish()
          'suspended' executing: it waits for its children 'waits'
            'waits' pending: its queue or group is suspended
          'filler' executing: execute() has returned, waits for finish()
          'last' pending: it waits for one of 5 slots, taken by 'fetch', 'held', 'group', \
        'suspended', 'filler'
        elsewhere
          'unqueued' initialized: it is on no queue yet
        """)
    answer.open()
    queue.cancelAll()
    for event in events.events { event.release() }
    for procedure in [fetch, child, filler] { procedure.finish() }
    scheduler.run()
  }

  @Test("a snapshot says of which procedures no worker has come to them")
  func noThread() {
    let queue = ProcedureQueue(name: "work", scheduler: scheduler)
    queue.add(executing("ready"))
    #expect(
      "\(queue.snapshot())" == """
        'work' (1 unfinished)
          'ready' pending: it is ready, and waits for a thread
        """)
    queue.cancelAll()
    scheduler.run()
  }

  @Test("a snapshot draws which procedure waits for which")
  func mermaid() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let first = executing("first \"one\"")
    let second = executing("second")
    let group = GroupProcedure(second)
    group.name = "group"
    second.add(dependency: first)
    queue.add(first, group)
    scheduler.run()
    #expect(
      queue.snapshot().mermaid == """
        flowchart LR
          p1["first #quot;one#quot;<br/>executing"]
          subgraph p2["group<br/>executing"]
            p3["second<br/>pending"]
          end
          p3 --> p1
        """)
    first.finish()
    second.cancel()
    scheduler.run()
    #expect(queue.count == 0 && "\(queue.snapshot())" == "'ProcedureQueue' (0 unfinished)")
  }

  @Test("a name with line breaks and control characters begins no line of a snapshot or flowchart")
  func forgingNames() {
    let queue = ProcedureQueue(name: "work\n  'x' executing", scheduler: scheduler)
    let first = executing("a\r\n  'forged'\u{1b}[31m\u{85}\u{2028}\u{202e} &amp;")
    let second = executing("second")
    second.add(dependency: first)
    queue.add(first, second)
    scheduler.run()
    let shown = "a\\r\\n  'forged'\\u{1b}[31m\\u{85}\\u{2028}\\u{202e}"
    let snapshot = queue.snapshot()
    #expect(
      "\(snapshot)" == """
        'work\\n  'x' executing' (2 unfinished)
          '\(shown) &amp;' executing: execute() has returned, waits for finish()
          'second' pending: it waits for '\(shown) &amp;'
        """)
    #expect(
      snapshot.mermaid == """
        flowchart LR
          p1["\(shown) #amp;amp;<br/>executing"]
          p2["second<br/>pending"]
          p2 --> p1
        """)
    #expect(snapshot.entries.map(\.name) == [first.name, "second"])
    #expect("\(first)".hasPrefix("'\(shown) &amp;' ("))
    #expect("\(queue)".hasPrefix("'work\\n  'x' executing' ("))
    first.finish()
    scheduler.run()
    second.finish()
    scheduler.run()
  }

  @Test("a name with line breaks begins no line of a report or an error")
  func forgingNamesInReports() async {
    let reports = Recorder<ProcedureDiagnostic>()
    let queue = ProcedureQueue(name: "work\n", scheduler: scheduler)
    queue.diagnosticsHandler = { reports.note($0) }
    let (first, second) = (TracedProcedure("first\n"), TracedProcedure("second\r\n"))
    first.add(dependency: second)
    second.add(dependency: first)
    queue.add(first, second)
    scheduler.run()
    #expect(
      await eventually {
        scheduler.run(); return first.isFinished && second.isFinished
      })
    #expect(reports.events.map(\.code) == [.waitCycle])
    let cycle = "\(first.errors[0])"
    #expect(cycle.contains("'first\\n' waits for 'second\\r\\n'"))
    #expect(!cycle.utf8.contains(10) && !"\(reports.events[0])".utf8.contains(10))
    #expect((first.errors[0] as? ProcedureError)?.cycle.contains("first\n") == true)
    queue.close()
    let late = TracedProcedure("late\n")
    queue.add(late)
    scheduler.run()
    #expect(reports.events.last?.procedureName == "late\n")
    #expect(reports.events.last?.description.hasPrefix("'late\\n' was refused. ") == true)
    for code in [
      ProcedureError.Code.timedOut, .deadlineExceeded, .parentCancelled, .siblingFailed,
      .groupFinished, .queueClosed,
      .queueFull, .child, .dependencyFailed, .requirementNotSatisfied, .notAttempted,
      .finishDropped, .conditionFailed,
      .notImplemented, .notEnqueued, .circuitOpen,
    ] {
      let text = "\(ProcedureError(code, procedure: "a\nb"))"
      #expect(text.contains("a\\nb") && !text.utf8.contains(10), "\(text)")
    }
  }
}
