import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct OverdueTests {
  private let scheduler = ManualScheduler()
  private let time = TestClock()
  private let diagnostics = Recorder<ProcedureDiagnostic>()

  private func makeQueue() -> ProcedureQueue {
    let queue = ProcedureQueue(scheduler: scheduler, clock: time.clock)
    queue.diagnosticsHandler = { [diagnostics] in diagnostics.note($0) }
    return queue
  }

  @Test("C9: a cancelled procedure that lingers beyond the grace period is reported, once, by name")
  func lingers() {
    let queue = makeQueue()
    queue.cancellationGracePeriod = .seconds(5)
    let stubborn = TracedProcedure("stubborn", end: .whenTold)
    let obedient = TracedProcedure("obedient", end: .whenToldOrCancelled)
    queue.add(stubborn, obedient)
    scheduler.run()
    stubborn.cancel()
    obedient.cancel()
    scheduler.run()
    // The first look comes after a second at most, and the report a grace period after that.
    time.advance(by: .seconds(5))
    #expect(diagnostics.events.isEmpty)
    time.advance(by: .seconds(60))
    #expect(diagnostics.events.map(\.code) == [.lingering])
    #expect(diagnostics.events.map(\.procedureName) == ["stubborn"])
    #expect(diagnostics.events[0].age == .seconds(5))
    #expect(
      "\(diagnostics.events[0])"
        == "'stubborn' was cancelled more than 5 seconds ago and has not finished: "
        + "execute() has returned; call finish() in procedureDidCancel(withErrors:).")
    #expect(stubborn.isExecuting)
    stubborn.finish()
    scheduler.run()
    #expect(time.pendingCount == 0)
  }

  @Test(
    "C9: a lingering child is reported with what its group waits for, also if it was cancelled before"
  )
  func groups() {
    let queue = makeQueue()
    queue.cancellationGracePeriod = .seconds(1)
    let child = TracedProcedure("child", end: .whenTold)
    let group = GroupProcedure(child)
    group.name = "group"
    queue.add(group)
    scheduler.run()
    group.cancel()
    scheduler.run()
    time.advance(by: .milliseconds(1_500))
    #expect(Set(diagnostics.events.map(\.procedureName)) == ["child", "group"])
    #expect(diagnostics.events.contains { "\($0)".hasSuffix("it waits for its children 'child'.") })
    child.finish()
    scheduler.run()

    let early = TracedProcedure("early")
    let events = Recorder<PendingEvent>()
    early.addWillFinishBlockObserver { _, _, event in events.note(event) }
    queue.isSuspended = true
    queue.add(GroupProcedure(early))
    early.cancel()
    scheduler.run()
    time.advance(by: .milliseconds(1_500))
    #expect(diagnostics.events.last?.procedureName == "early")
    #expect("\(diagnostics.events.last!)".contains("an observer holds its finish event back"))
    for event in events.events { event.release() }
    queue.isSuspended = false
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("C9: nothing is reported by default, nor of a procedure that finishes in time")
  func off() {
    let queue = makeQueue()
    #expect(queue.cancellationGracePeriod == nil)
    let stubborn = TracedProcedure("stubborn", end: .whenTold)
    queue.add(stubborn)
    scheduler.run()
    stubborn.cancel()
    scheduler.run()
    time.advance(by: .seconds(1_000))
    #expect(diagnostics.events.isEmpty && time.pendingCount == 0)
    stubborn.finish()
    scheduler.run()
  }

  @Test("an event that an observer holds back is reported, once")
  func heldEvent() {
    let queue = makeQueue()
    queue.waitReportDelay = .seconds(2)
    let procedure = TracedProcedure("held")
    let events = Recorder<PendingEvent>()
    procedure.addWillExecuteBlockObserver { _, event in events.note(event) }
    queue.add(procedure)
    scheduler.run()
    time.advance(by: .seconds(10))
    #expect(diagnostics.events.map(\.code) == [.eventHeld])
    #expect(
      "\(diagnostics.events[0])"
        == "An observer of 'held' has held back its execute event for 2 seconds: "
        + "release the pending event.")
    for event in events.events { event.release() }
    scheduler.run()
    #expect(procedure.isFinished && time.pendingCount == 0)
  }

  @Test("Q11: an underlying queue that begins nothing is reported, once, in a group too")
  func stuckUnderlyingQueue() async {
    for isInGroup in [false, true] {
      let diagnostics = Recorder<ProcedureDiagnostic>()
      let underlying = DispatchQueue(label: "theirs")
      underlying.suspend()
      let queue = ProcedureQueue(underlyingQueue: underlying, clock: time.clock)
      queue.diagnosticsHandler = { diagnostics.note($0) }
      queue.waitReportDelay = .seconds(2)
      let procedures = [TracedProcedure("first"), TracedProcedure("second")]
      if isInGroup {
        queue.add(GroupProcedure(children: procedures).named("first"))
      } else {
        queue.add(procedures)
      }
      for _ in 0..<10 { time.advance(by: .seconds(1)) }
      #expect(diagnostics.events.map(\.code) == [.threadAwaited])
      #expect(
        diagnostics.events.first.map { "\($0)" }
          == "'first' has been ready for 2 seconds, and the underlying queue 'theirs' has not begun it: is that "
          + "suspended, or blocked by what runs on it?")
      underlying.resume()
      await queue.waitUntilAllFinished()
      #expect(procedures.allSatisfy { $0.outcome == .succeeded })
    }
  }

  @Test("Q11: each time that an underlying queue begins nothing is reported, and no other")
  func stuckAgain() async {
    let diagnostics = Recorder<ProcedureDiagnostic>()
    let underlying = DispatchQueue(label: "theirs")
    let queue = ProcedureQueue(underlyingQueue: underlying, clock: time.clock)
    queue.diagnosticsHandler = { diagnostics.note($0) }
    queue.waitReportDelay = .seconds(2)
    for name in ["first", "second"] {
      underlying.suspend()
      let (oldest, other) = (TracedProcedure(name), TracedProcedure("other"))
      queue.add(oldest, other)
      for _ in 0..<10 { time.advance(by: .seconds(1)) }
      underlying.resume()
      await queue.waitUntilAllFinished()
      #expect(oldest.outcome == .succeeded && other.outcome == .succeeded)
    }
    #expect(diagnostics.events.map(\.procedureName) == ["first", "second"])
    #expect(diagnostics.events.allSatisfy { $0.code == .threadAwaited })
  }

  @Test("Q11: an underlying queue that is busy with a long line is not reported")
  func busyUnderlyingQueue() async {
    let diagnostics = Recorder<ProcedureDiagnostic>()
    let underlying = DispatchQueue(label: "theirs")
    let queue = ProcedureQueue(underlyingQueue: underlying, clock: time.clock)
    queue.diagnosticsHandler = { diagnostics.note($0) }
    queue.waitReportDelay = .seconds(2)
    // Each takes a second, and there is one thread.
    for _ in 0..<20 { queue.add(BlockProcedure { [time] in time.advance(by: .seconds(1)) }) }
    await queue.waitUntilAllFinished()
    #expect(diagnostics.events.isEmpty)
  }

  @Test("X3: a closure that is to begin on the main actor says so, and is reported if it lasts")
  func mainActorAwaited() async {
    let queue = ProcedureQueue(clock: time.clock)
    queue.diagnosticsHandler = { [diagnostics] in diagnostics.note($0) }
    queue.waitReportDelay = .seconds(2)
    for isVoid in [true, false] {
      let (isBlocked, gate) = (Gate(), DispatchSemaphore(value: 0))
      DispatchQueue.main.async {
        isBlocked.open()
        gate.wait()
      }
      await isBlocked.wait()
      let procedure: Procedure =
        isVoid
        ? MainActorProcedure(name: "shows") {}
        : AsyncResultProcedure(name: "shows") { @MainActor in 1 }
      queue.add(procedure)
      #expect(await eventually { procedure.isExecuting })
      #expect(
        await eventually {
          queue.snapshot().entries.first?.obstacle
            == "its body is to begin, and waits for the main actor"
        })
      #expect(
        await eventually {
          time.advance(by: .seconds(1))
          return diagnostics.events.count == (isVoid ? 1 : 2)
        })
      #expect(
        diagnostics.events.last.map { "\($0)" }?.hasPrefix(
          "'shows' has been waiting for the main actor for ") == true)
      gate.signal()
      await queue.waitUntilAllFinished()
      #expect(procedure.outcome == .succeeded)
    }
    #expect(diagnostics.events.allSatisfy { $0.code == .threadAwaited })
  }

  @Test("a condition that does not answer is reported, once")
  func unansweredCondition() async {
    let queue = ProcedureQueue(clock: time.clock)
    queue.diagnosticsHandler = { [diagnostics] in diagnostics.note($0) }
    queue.waitReportDelay = .seconds(3)
    let (asked, answer) = (Gate(), Gate())
    let procedure = TracedProcedure("asks")
    procedure.add(
      condition: AsyncCondition {
        asked.open()
        await answer.wait()
        return true
      })
    queue.add(procedure)
    await asked.wait()
    // The turn that asked may not be over yet: a look is set when it is.
    while diagnostics.events.isEmpty {
      time.advance(by: .seconds(1))
      await Task.yield()
    }
    time.advance(by: .seconds(10))
    #expect(diagnostics.events.map(\.code) == [.conditionUnanswered])
    #expect(
      "\(diagnostics.events[0])"
        == "Condition 'AsyncCondition' of 'asks' has not answered for 3 seconds.")
    answer.open()
    _ = await procedure.waitUntilFinished()
    #expect(time.pendingCount == 0)
  }

  @Test("a dependency that is on no queue is reported once, unless it is added in time")
  func missingDependency() {
    let queue = makeQueue()
    let (mail, log) = (TracedProcedure("mail"), TracedProcedure("log"))
    let (export, late) = (TracedProcedure("export"), TracedProcedure("late"))
    mail.add(dependency: export)
    log.add(dependency: late)
    queue.add(mail, log)
    scheduler.run()
    time.advance(by: .seconds(9))
    queue.add(late)
    scheduler.run()
    #expect(log.isFinished && diagnostics.events.isEmpty)
    time.advance(by: .seconds(100))
    scheduler.run()
    #expect(diagnostics.events.map(\.code) == [.dependencyNotAdded])
    #expect(diagnostics.events.map(\.procedureName) == ["mail"])
    #expect(
      diagnostics.events.map { "\($0)" } == [
        "'mail' has waited 10 seconds for 'export', which is on no queue: add that to one, or remove the "
          + "dependency."
      ])
    queue.add(export)
    scheduler.run()
    #expect(mail.isFinished && time.pendingCount == 0)
  }

  @Test("a dependency in a group that is on no queue is reported, also if a child waits for it")
  func missingGroup() {
    let queue = makeQueue()
    let (inner, child) = (TracedProcedure("inner"), TracedProcedure("child"))
    child.add(dependency: inner)
    let (missing, group) = (GroupProcedure(inner), GroupProcedure(name: "group", child))
    queue.add(group)
    scheduler.run()
    time.advance(by: .seconds(11))
    #expect(diagnostics.events.map(\.code) == [.dependencyNotAdded])
    #expect(diagnostics.events.map(\.procedureName) == ["child"])
    queue.add(missing)
    scheduler.run()
    #expect(group.isFinished && missing.isFinished && time.pendingCount == 0)
  }

  @Test("after a dependency that was added in time another one that is missing is reported, too")
  func anotherMissing() {
    let queue = makeQueue()
    let (waits, first, second) = (
      TracedProcedure("waits"), TracedProcedure("first"), TracedProcedure("second")
    )
    waits.add(dependency: first)
    queue.add(waits)
    scheduler.run()
    waits.add(dependency: second)
    queue.add(first)
    scheduler.run()
    time.advance(by: .seconds(100))
    #expect(diagnostics.events.map { "\($0)".contains("for 'second', which is") } == [true])
    waits.remove(dependency: second)
    scheduler.run()
    #expect(waits.isFinished && time.pendingCount == 0)
  }

  @Test("a wait that ends and begins again between two looks has not lasted")
  func twice() {
    let queue = makeQueue()
    queue.waitReportDelay = .seconds(2)
    let (first, second) = (TracedProcedure("first"), TracedProcedure("second"))
    let waits = TracedProcedure("waits")
    waits.add(dependency: first)
    queue.add(waits)
    scheduler.run()
    time.advance(by: .milliseconds(2_900))
    // The last look has seen `first` for less than the delay.
    waits.add(dependency: second)
    queue.add(first)
    scheduler.run()
    time.advance(by: .milliseconds(1_900))
    #expect(diagnostics.events.isEmpty)
    time.advance(by: .seconds(10))
    #expect(diagnostics.events.map { "\($0)".contains("for 'second', which is") } == [true])
    queue.add(second)
    scheduler.run()
    #expect(waits.isFinished && time.pendingCount == 0)
  }

  @Test("a look at a queue of twenty thousand members is over soon, and finds what runs")
  func huge() {
    let queue = makeQueue()
    let gate = TracedProcedure("gate", end: .whenTold)
    queue.add(gate)
    scheduler.run()
    for _ in 0..<20_000 {
      let procedure = BlockProcedure {}
      procedure.add(dependency: gate)
      queue.add(procedure)
    }
    queue.cancellationGracePeriod = .seconds(5)
    gate.cancel()
    // The first look lets in what has arrived, as any call does that looks at the members.
    time.advance(by: .seconds(2))
    // A dozen looks: a thousandth of what going through all members takes.
    #expect(processorTime { time.advance(by: .seconds(20)) } < 1)
    #expect(diagnostics.events.map(\.procedureName) == ["gate"])
    gate.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }
}
