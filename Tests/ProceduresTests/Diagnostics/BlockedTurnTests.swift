import ProcedurePrimitives
@testable import Procedures
import ProcedureTestSupport
import Testing

/// Procedures that block in their turn for what does not end before they do.
@Suite(.hangLimit) struct BlockedTurnTests {
  private let queue = ProcedureQueue(name: "pictures")
  private let serial = ProcedureQueue(name: "serial", maxConcurrentProcedureCount: 1)
  private let reports = Recorder<ProcedureDiagnostic>()

  init() {
    for queue in [queue, serial] { queue.diagnosticsHandler = { [reports] in reports.note($0) } }
  }

  private func make(
    _ name: String, _ body: @escaping @Sendable (BlockProcedure) -> Void = { _ in }
  ) -> BlockProcedure {
    BlockProcedure(name: name) { body($0) }
  }

  private func expectCycle(
    _ names: [String], _ procedures: [Procedure], saying words: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    for procedure in procedures {
      let error = procedure.errors.first as? ProcedureError
      #expect(procedure.isFinished && procedure.isCancelled, sourceLocation: location)
      #expect(error?.code == .dependencyCycle && error?.cycle == names, sourceLocation: location)
    }
    #expect(reports.events.map(\.code) == [.waitCycle], sourceLocation: location)
    let report = reports.events.first.map { "\($0)" } ?? ""
    #expect(report.contains(words), "\(report)", sourceLocation: location)
  }

  @Test(
    "Q7: a procedure that blocks for the end of its own queue goes on, cancelled; the report has both names"
  )
  func ownQueue() async {
    let import_ = make("import") { [queue] _ in queue.blockUntilAllFinished() }
    let other = make("other")
    other.add(dependency: import_)
    queue.add(import_, other)
    await queue.waitUntilAllFinished()
    expectCycle(
      ["import"], [import_],
      saying:
        "'import' waits for its own end: 'import' waits in blockUntilAllFinished() of queue 'pictures'. "
        + "Remove that wait.")
    #expect(other.outcome == .succeeded)
  }

  @Test("Q7: a child and an observer that block their turn are reported as well")
  func inside() async {
    let child = make("child")
    child.add(observer: BlockObserver(didFinish: { [queue] _, _ in queue.blockUntilAllFinished() }))
    queue.add(GroupProcedure(child))
    await queue.waitUntilAllFinished()
    #expect(reports.events.map(\.code) == [.waitCycle])
    #expect(reports.events.first?.procedureName == "child")
  }

  @Test(
    "Q7: a procedure of a serial queue that blocks for the next in line gets that cancelled, and goes on"
  )
  func nextInLine() async {
    let (executed, outcomes) = (Counter(), Recorder<ProcedureOutcome>())
    let second = make("second") { _ in executed.increment() }
    let first = make("first") { _ in outcomes.note(second.blockUntilFinished()) }
    serial.add(first, second)
    await serial.waitUntilAllFinished()
    expectCycle(
      ["first", "second"], [first, second],
      saying: "'first' waits in blockUntilFinished() of 'second'")
    #expect(outcomes.events.first?.isCancelled == true && executed.value == 0)
  }

  @Test(
    "Q7: a procedure that blocks for its group, for itself, or in a circle across queues goes on, cancelled"
  )
  func others() async {
    let group = GroupProcedure(name: "group", children: [])
    let child = make("child") { _ in group.blockUntilFinished() }
    group.add(child: child)
    _ = await queue.run(group)
    #expect((child.errors.first as? ProcedureError)?.cycle == ["group", "child"])

    let itself = make("itself") { $0.blockUntilFinished() }
    _ = await queue.run(itself)
    #expect((itself.errors.first as? ProcedureError)?.cycle == ["itself"])

    let dependent = make("dependent")
    let here = make("here") { _ in dependent.blockUntilFinished() }
    dependent.add(dependency: here)
    serial.add(here)
    queue.add(dependent)
    await here.waitUntilFinished()
    #expect((dependent.errors.first as? ProcedureError)?.cycle.sorted() == ["dependent", "here"])

    let others = Locked<Procedure?>(nil)
    let one = make("one") { _ in others.withLock { $0 }?.blockUntilFinished() }
    let two = make("two") { _ in one.blockUntilFinished() }
    others.withLock { $0 = two }
    serial.add(one)
    queue.add(two)
    await one.waitUntilFinished()
    await two.waitUntilFinished()
    #expect((one.errors.first as? ProcedureError)?.cycle.sorted() == ["one", "two"])
  }

  @Test(
    "Q7: a group that blocks for its children in execute() goes on, and so does a dependent of one that blocks for it"
  )
  func turnInUse() async {
    final class Batch: GroupProcedure, @unchecked Sendable {
      override func execute() {
        super.execute()
        for child in children { child.blockUntilFinished() }
      }
    }
    let batch = Batch(children: [make("child"), make("other")])
    batch.name = "batch"
    _ = await queue.run(batch)
    #expect((batch.errors.first as? ProcedureError)?.cycle == ["batch", "child"])

    let (first, dependent) = (make("first"), make("dependent"))
    first.add(observer: BlockObserver(didFinish: { _, _ in dependent.blockUntilFinished() }))
    dependent.add(dependency: first)
    queue.add(first, dependent)
    await queue.waitUntilAllFinished()
    #expect((dependent.errors.first as? ProcedureError)?.cycle == ["first", "dependent"])
    #expect(first.outcome == .succeeded)
  }

  @Test(
    "Q7: a handler of a token that blocks for a dependent of the procedure that is being cancelled returns; both are named",
    arguments: [0, 1, 2])
  func handlerOfToken(_ kind: Int) async {
    let held = ProcedureQueue(name: "held")
    held.isSuspended = true
    held.diagnosticsHandler = { [reports] in reports.note($0) }
    let (pending, dependent) = (make("pending"), make("dependent"))
    dependent.add(dependency: pending)
    pending.cancellationToken.onCancel { dependent.blockUntilFinished() }
    held.add(pending)
    queue.add(dependent)
    switch kind {
    case 0: await onThreadOfItsOwn { pending.cancel() }
    case 1: await onThreadOfItsOwn { held.cancelAll() }
    default:
      let canceller = make("canceller") { _ in pending.cancel() }
      queue.add(canceller)
      await canceller.waitUntilFinished()
      #expect(canceller.outcome == .succeeded)
    }
    await queue.waitUntilAllFinished()
    await pending.waitUntilFinished()
    #expect(pending.outcome == .cancelled([]))
    // Either queue may be the one that proves it.
    let error = dependent.errors.first as? ProcedureError
    #expect(error?.code == .dependencyCycle)
    #expect(error?.cycle.sorted() == ["dependent", "pending"])
    // Both queues tell of it.
    #expect(reports.events.map(\.code) == [.waitCycle, .waitCycle])
    #expect(
      "\(reports.events)".contains(
        "'pending' is cancelled, and a handler of that waits in blockUntilFinished() of 'dependent'"
      ))
  }

  @Test("Q7: a handler that waits for the end of its own procedure returns, though that executes")
  func handlerForItself() async {
    let executing = TracedProcedure("executing", end: .whenTold)
    executing.cancellationToken.onCancel { executing.blockUntilFinished() }
    queue.add(executing)
    #expect(await eventually { executing.isExecuting && !executing.isInTurn })
    await onThreadOfItsOwn { executing.cancel() }
    executing.finish()
    await queue.waitUntilAllFinished()
    #expect(executing.outcome == .cancelled([]))
    #expect(reports.events.map(\.code) == [.waitCycle])
  }

  @Test("Q7: each procedure of a tree that is cancelled waits for a handler that blocks")
  func handlerInTree() async {
    let (first, second) = (make("first"), make("second"))
    let group = GroupProcedure(children: [first, second]).named("group")
    let dependent = make("dependent")
    dependent.add(dependency: second)
    first.cancellationToken.onCancel { dependent.blockUntilFinished() }
    group.isSuspended = true
    queue.add(group, dependent)
    await onThreadOfItsOwn { group.cancel() }
    await queue.waitUntilAllFinished()
    expectCycle(
      ["dependent", "second"], [dependent],
      saying: "'second' is cancelled, and a handler of that waits in blockUntilFinished()")
  }

  @Test("Q7: a handler that blocks beside a body that goes on is no cycle, and is reported")
  func handlerBesideBody() async {
    let time = TestClock()
    let queue = ProcedureQueue(name: "queue", clock: time.clock)
    queue.diagnosticsHandler = { [reports] in reports.note($0) }
    queue.waitReportDelay = .seconds(2)
    let (begun, gate) = (Gate(), Gate())
    let dependent = make("dependent")
    let body = AsyncProcedure(name: "body") { @Sendable in
      await withTaskCancellationHandler {
        begun.open()
        await gate.wait()
      } onCancel: {
        dependent.blockUntilFinished()
      }
    }
    dependent.add(dependency: body)
    queue.add(body, dependent)
    await begun.wait()
    async let cancel: Void = onThreadOfItsOwn { body.cancel() }
    #expect(await eventually { body.waitingCall != nil })
    #expect(
      body.wait.summary == "a handler of its cancel waits in blockUntilFinished() for 'dependent'")
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    #expect(
      await eventually {
        time.advance(by: .seconds(1))
        return !reports.events.isEmpty
      })
    #expect(reports.events.map(\.code) == [.callAwaited])
    #expect(
      reports.events.first.map { "\($0)" }?.hasPrefix(
        "A handler that is called for the cancel of 'body' has waited in blockUntilFinished() for 'dependent' for "
      )
        == true)
    // Swift resumes no task while a handler of its cancel runs.
    dependent.cancel()
    await cancel
    gate.open()
    await queue.waitUntilAllFinished()
    #expect(body.outcome == .cancelled([]) && body.waitingCall == nil)
  }

  @Test("Q7: a wait for what can end is no cycle, however long it lasts, and a snapshot names it")
  func noCycle() async {
    let gate = Gate()
    let slow = AsyncProcedure(name: "slow") { @Sendable in await gate.wait() }
    let waiting = make("waiting") { _ in slow.blockUntilFinished() }
    queue.add(waiting, slow)
    #expect(await eventually { waiting.waitingCall != nil })
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    let line = "\(queue.snapshot())".split(separator: "\n").first { $0.contains("waiting") }
    #expect(line?.contains("it waits in blockUntilFinished() for 'slow'") == true)
    gate.open()
    await queue.waitUntilAllFinished()
    #expect(waiting.outcome == .succeeded && waiting.waitingCall == nil)
    #expect(reports.events.isEmpty)
  }

  @Test(
    "Q7: a body that awaits its own queue, or the next in line, however it does, ends in the same way"
  )
  func awaiting() async {
    let time = TestClock()
    let serial = ProcedureQueue(name: "serial", maxConcurrentProcedureCount: 1, clock: time.clock)
    let waits: [@Sendable (ResultProcedure<Int>) async -> Void] = [
      { _ in await serial.waitUntilAllFinished() },
      { next in await next.waitUntilFinished() },
      { next in _ = try? await next.value },
      { next in _ = await serial.run(next) },
    ]
    for (index, wait) in waits.enumerated() {
      let executed = Counter()
      let next = ResultProcedure(name: "next") { executed.increment() }
      let body = AsyncProcedure(name: "body") { @Sendable in await wait(next) }
      serial.add(body)
      if index < 3 { serial.add(next) }
      while serial.count > 0 {
        time.advance(by: .seconds(1))
        await Task.yield()
      }
      let cycle = index == 0 ? ["body"] : ["body", "next"]
      #expect((body.errors.first as? ProcedureError)?.cycle == cycle, "\(index)")
      #expect(
        body.outcome?.isCancelled == true && executed.value == (index == 0 ? 1 : 0), "\(index)")
    }
  }

  @Test(
    "Q7: with a second slot a body may await what is on its queue, and a queue may be drained from inside"
  )
  func awaitingWhatEnds() async {
    let time = TestClock()
    let queue = ProcedureQueue(name: "wide", clock: time.clock)
    let gate = Gate()
    let slow = AsyncProcedure(name: "slow") { @Sendable in await gate.wait() }
    let body = AsyncProcedure(name: "body") { @Sendable in await slow.waitUntilFinished() }
    queue.add(body, slow)
    #expect(await eventually { body.waitingCall != nil })
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    let last = AsyncProcedure(name: "last") { @Sendable in await queue.drain(grace: .seconds(30)) }
    queue.add(last)
    // Until it has closed the queue.
    #expect(await eventually { !queue.add(BlockProcedure {}) })
    time.advance(by: .seconds(29))
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty && !last.isCancelled)
    gate.open()
    await body.waitUntilFinished()
    // The queue is closed before the timer for the grace is set.
    while !last.isFinished {
      time.advance(by: .seconds(30))
      await Task.yield()
    }
    #expect(slow.outcome == .succeeded && body.outcome == .succeeded)
  }
}
