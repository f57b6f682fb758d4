import Dispatch
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

/// What is said of a wait, by whatever asks.
@Suite(.hangLimit) struct WaitTests {
  private let scheduler = ManualScheduler()
  private let domain = ExclusionDomain(name: "waits")

  /// A queue on the test's clock, whose waits are reported after three seconds.
  private func makeReporting(
    _ name: String
  ) -> (ProcedureQueue, TestClock, Recorder<ProcedureDiagnostic>) {
    let (time, reports) = (TestClock(), Recorder<ProcedureDiagnostic>())
    let queue = ProcedureQueue(name: name, clock: time.clock)
    queue.diagnosticsHandler = { reports.note($0) }
    queue.waitReportDelay = .seconds(3)
    return (queue, time, reports)
  }

  private func excluding(_ name: String) -> TracedProcedure {
    let procedure = TracedProcedure(name)
    procedure.add(condition: MutuallyExclusive(named: "disk", in: domain))
    return procedure
  }

  @Test(
    "L4, C3: a holder whose thread does not come says so, and gives its category back when it is cancelled"
  )
  func grantedWithoutThread() {
    let theirs = ManualScheduler()
    let (queue, blocked) = (
      ProcedureQueue(name: "queue", scheduler: scheduler),
      ProcedureQueue(name: "blocked", scheduler: theirs)
    )
    let holder = TracedProcedure("holder", end: .whenTold)
    holder.add(condition: MutuallyExclusive(named: "disk", in: domain))
    let (granted, next) = (excluding("granted"), excluding("next"))
    queue.add(holder)
    scheduler.run()
    blocked.add(granted)
    theirs.run()
    queue.add(next)
    scheduler.run()
    holder.finish()
    scheduler.run()
    // Its scheduler does not run: the underlying queue is blocked.
    #expect(
      "\(blocked.snapshot())".hasSuffix(
        "'granted' pending: it is ready, and waits for a thread"))
    #expect(
      "\(queue.snapshot())".contains("'next' pending: it waits for 'disk', held by 'granted'"))
    granted.cancel()
    scheduler.run()
    #expect(next.outcome == .succeeded && !granted.isFinished)
    theirs.run()
    #expect(granted.outcome == .cancelled([]) && blocked.count == 0 && queue.count == 0)
  }

  @Test(
    "a procedure that was told to finish, or was cancelled, says that its turn waits for a thread")
  func turnWithoutThread() {
    let queue = ProcedureQueue(name: "queue", scheduler: scheduler)
    let (told, cancelled) = (
      TracedProcedure("told", end: .whenTold), TracedProcedure("cancelled", end: .whenTold)
    )
    queue.add(told, cancelled)
    scheduler.run()
    told.finish()
    cancelled.cancel()
    #expect(
      "\(queue.snapshot())" == """
        'queue' (2 unfinished)
          'told' executing: its next turn waits for a thread
          'cancelled' executing, cancelled: its next turn waits for a thread
        """)
    scheduler.run()
    #expect(
      queue.snapshot().entries.map(\.obstacle) == ["execute() has returned, waits for finish()"])
    cancelled.finish()
    scheduler.run()
  }

  @Test(
    "Q11: a turn that no thread of an underlying queue comes to is reported; a cancel says why it lingers"
  )
  func turnReported() async {
    let time = TestClock()
    let underlying = DispatchQueue(label: "theirs")
    let queue = ProcedureQueue(name: "queue", underlyingQueue: underlying, clock: time.clock)
    let reports = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = { reports.note($0) }
    queue.waitReportDelay = .seconds(2)
    queue.cancellationGracePeriod = .seconds(2)
    let (told, cancelled) = (
      TracedProcedure("told", end: .whenTold), TracedProcedure("cancelled", end: .whenTold)
    )
    queue.add(told, cancelled)
    #expect(
      await eventually {
        told.isExecuting && cancelled.isExecuting && !told.isInTurn && !cancelled.isInTurn
      })
    // A worker that has not left yet would come to what follows.
    await withCheckedContinuation { continuation in underlying.async { continuation.resume() } }
    underlying.suspend()
    told.finish()
    cancelled.cancel()
    for _ in 0..<10 { time.advance(by: .seconds(1)) }
    #expect(Set(reports.events.map(\.code)) == [.threadAwaited, .lingering])
    let texts = reports.events.map { "\($0)" }
    #expect(
      texts.contains {
        $0.hasSuffix(
          "the underlying queue 'theirs' has not begun it: is that suspended, or blocked by what runs on it?"
        )
      })
    #expect(texts.contains { $0.contains("no thread has come to deliver the cancel") })
    underlying.resume()
    cancelled.finish()
    await queue.waitUntilAllFinished()
  }

  @Test("Q7: a call in a closure that hands a value over is a wait of the target, wherever it runs")
  func handOver() async {
    for isSameQueue in [true, false] {
      let (queue, other) = (ProcedureQueue(name: "queue"), ProcedureQueue(name: "other"))
      let (source, dependent) = (
        BlockProcedure(name: "source") {}, BlockProcedure(name: "after") {}
      )
      let target = BlockProcedure(name: "target") {}
      dependent.add(dependency: target)
      target.inject(dependency: source) { _, _, _ in dependent.blockUntilFinished() }
      (isSameQueue ? queue : other).add(target, dependent)
      queue.add(source)
      await dependent.waitUntilFinished()
      await target.waitUntilFinished()
      #expect(source.outcome == .succeeded)
      let error = target.errors.first as? ProcedureError
      #expect(error?.cycle.sorted() == ["after", "target"])
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains("'target' waits in blockUntilFinished() of 'after'"))
    }
  }

  @Test(
    "Q7: a call in an observer on a queue of its own, or in a hook of a group, is a wait of theirs")
  func elsewhere() async {
    let queue = ProcedureQueue(name: "queue")
    let (observed, dependent) = (
      BlockProcedure(name: "observed") {}, BlockProcedure(name: "after") {}
    )
    dependent.add(dependency: observed)
    let label = DispatchQueue(label: "label")
    observed.addDidFinishBlockObserver(synchronizedWith: label) { dependent.blockUntilFinished() }
    queue.add(observed, dependent)
    await queue.waitUntilAllFinished()
    #expect((dependent.errors.first as? ProcedureError)?.cycle == ["observed", "after"])

    final class Hooked: GroupProcedure, @unchecked Sendable {
      let after: Procedure
      init(_ child: Procedure, after: Procedure) {
        self.after = after
        super.init(name: "hooked", children: [child])
      }
      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] {
        after.blockUntilFinished()
        return errors
      }
    }
    let after = BlockProcedure(name: "after") {}
    let group = Hooked(BlockProcedure(name: "child") {}, after: after)
    after.add(dependency: group)
    queue.add(group, after)
    await queue.waitUntilAllFinished()
    #expect((after.errors.first as? ProcedureError)?.cycle == ["hooked", "after"])
  }

  // MARK: Bodies

  private typealias Body =
    @Sendable (ProcedureQueue, AsyncResultProcedure<Void>, BlockProcedure) async -> Void

  private static let waits: [(name: String, Body)] = [
    (
      "withProcedureQueue",
      { queue, _, next in
        queue.add(next)
        await withProcedureQueue { scope in
          let inner = BlockProcedure(name: "inner") {}
          inner.add(dependency: next)
          scope.add(inner)
        }
      }
    ),
    (
      "add(_:atMost:)", { queue, _, next in await queue.add([next, BlockProcedure {}], atMost: 1) }
    ),
    (
      "events",
      { queue, _, next in
        let events = next.events
        queue.add(next)
        for await _ in events {}
      }
    ),
    (
      "progressUpdates",
      { queue, _, next in
        let updates = next.progressUpdates
        queue.add(next)
        for await _ in updates {}
      }
    ),
    (
      "withTask, on the procedure's own token",
      { queue, body, next in
        _ = try? await withTask(cancelledBy: body.cancellationToken) { await queue.run(next) }
      }
    ),
    (
      "withTask, on no token",
      { queue, _, next in
        _ = try? await withTask(cancelledBy: .never) { await queue.run(next) }
      }
    ),
  ]

  @Test(
    "Q7: a body that awaits the next in line ends, whatever it awaits it with", arguments: 0..<6)
  func bodies(index: Int) async {
    let (name, wait) = Self.waits[index]
    let queue = ProcedureQueue(name: "serial", maxConcurrentProcedureCount: 1)
    let next = BlockProcedure(name: "next") {}
    let body = AsyncResultProcedure<Void>(name: "body") { @Sendable body in
      await wait(queue, body, next)
    }
    queue.add(body)
    await body.waitUntilFinished()
    let error = body.errors.first as? ProcedureError
    #expect(
      error?.code == .dependencyCycle && error?.cycle.contains("body") == true, "\(name): \(body)")
    await queue.waitUntilAllFinished()
  }

  @Test(
    "Q7: two feeds that fill each other end, and so does one that a procedure with a place waits for"
  )
  func feeds() async {
    let (queue, other) = (ProcedureQueue(name: "one"), ProcedureQueue(name: "two"))
    let (one, two) = (
      ProcedureFeed(into: queue, atMost: 1), ProcedureFeed(into: other, atMost: 1)
    )
    let filled = Gate()
    let first = AsyncProcedure(name: "first") { @Sendable in
      await filled.wait()
      await two.add(BlockProcedure {})
    }
    let second = AsyncProcedure(name: "second") { @Sendable in
      await filled.wait()
      await one.add(BlockProcedure {})
    }
    await one.add(first)
    await two.add(second)
    filled.open()
    await first.waitUntilFinished()
    await second.waitUntilFinished()
    #expect((first.errors.first as? ProcedureError)?.cycle.sorted() == ["first", "second"])
    await queue.waitUntilAllFinished()
    await other.waitUntilAllFinished()
    #expect(one.count == 0 && two.count == 0)

    let refused = BlockProcedure(name: "refused") {}
    let kept = Locked<Bool?>(nil)
    let blocking = BlockProcedure(name: "blocking") {
      let isAdded = one.blockUntilAdded(refused)
      kept.withLock { $0 = isAdded }
    }
    await one.add(blocking)
    await blocking.waitUntilFinished()
    #expect((blocking.errors.first as? ProcedureError)?.cycle == ["blocking"])
    #expect(kept.withLock { $0 } == false && refused.isCancelled)
    await queue.waitUntilAllFinished()
    #expect(one.count == 0)
  }

  @Test("Q7: a feed of an asynchronous sequence waits on behalf of the body that feeds")
  func feedOfAsynchronousSequence() async {
    let queue = ProcedureQueue(name: "queue")
    let feed = ProcedureFeed(into: queue, atMost: 1)
    let last = BlockProcedure(name: "last") {}
    let waiting = AsyncProcedure(name: "waiting") { @Sendable in
      // Room that only its own end would make.
      let (one, input) = AsyncStream.makeStream(of: BlockProcedure.self)
      input.yield(last)
      input.finish()
      await feed.add(one)
    }
    await feed.add(waiting)
    await waiting.waitUntilFinished()
    #expect((waiting.errors.first as? ProcedureError)?.cycle == ["waiting"])
    // An element that only its own end would bring.
    let asking = AsyncProcedure(name: "asking") { @Sendable procedure in
      let own = procedure
      await queue.add(
        AsyncStream<BlockProcedure>(unfolding: {
          await own.waitUntilFinished()
          return nil
        }), atMost: 2)
    }
    queue.add(asking)
    await asking.waitUntilFinished()
    #expect((asking.errors.first as? ProcedureError)?.cycle == ["asking"])
    await queue.waitUntilAllFinished()
  }

  @Test("Q7: a wait for room that others will make is no cycle")
  func room() async {
    let queue = ProcedureQueue(name: "queue")
    let feed = ProcedureFeed(into: queue, atMost: 2)
    let gate = Gate()
    await feed.add(AsyncProcedure(name: "slow") { @Sendable in await gate.wait() })
    let body = AsyncProcedure(name: "body") { @Sendable in await feed.add(BlockProcedure {}) }
    await feed.add(body)
    #expect(await eventually { body.waitingCall != nil })
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    #expect(body.wait.summary == "it waits in add(_:) of a feed for 'slow', 'body'")
    gate.open()
    await queue.waitUntilAllFinished()
    #expect(body.outcome == .succeeded)
  }

  @Test("Q7: an asynchronous condition that awaits what waits for its procedure ends with it")
  func condition() async {
    let queue = ProcedureQueue(name: "queue")
    let (asking, dependent) = (BlockProcedure(name: "asking") {}, BlockProcedure(name: "after") {})
    dependent.add(dependency: asking)
    asking.add(
      condition: AsyncCondition { @Sendable in
        await dependent.waitUntilFinished()
        return true
      })
    queue.add(asking, dependent)
    await queue.waitUntilAllFinished()
    #expect((asking.errors.first as? ProcedureError)?.cycle == ["asking", "after"])
  }

  @Test(
    "Q7: a body that waits for a token is reported by name, unless it is its own token")
  func token() async {
    let (queue, time, reports) = makeReporting("queue")
    let source = CancellationTokenSource()
    let waiting = AsyncProcedure(name: "waiting") { @Sendable [token = source.token] in
      await token.waitUntilCancelled()
    }
    let own = AsyncResultProcedure<Void>(name: "own") { @Sendable procedure in
      await procedure.cancellationToken.waitUntilCancelled()
    }
    queue.add(waiting, own)
    #expect(await eventually { waiting.waitingCall != nil && own.waitingCall != nil })
    // A call is noted before the look for it is set.
    while reports.events.isEmpty {
      time.advance(by: .seconds(1))
      await Task.yield()
    }
    for _ in 0..<20 { time.advance(by: .seconds(1)) }
    #expect(reports.events.map(\.code) == [.callAwaited])
    #expect(reports.events.first?.procedureName == "waiting")
    #expect(
      reports.events.first?.description.contains("has waited in waitUntilCancelled() of a token")
        == true)
    source.cancel()
    own.cancel()
    await queue.waitUntilAllFinished()
    #expect(waiting.waitingCall == nil && own.waitingCall == nil)
  }

  @Test(
    "Q7: a body's wait for a token with a deadline is not reported before the deadline and the delay"
  )
  func tokenWithDeadline() async {
    let (queue, time, reports) = makeReporting("queue")
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(20), clock: time.clock)
    let timed = AsyncProcedure(name: "timed") { @Sendable [token = source.token] in
      await token.waitUntilCancelled()
    }
    let linked = CancellationTokenSource(linkedTo: source.token)
    let behind = AsyncProcedure(name: "behind") { @Sendable [token = linked.token] in
      await token.waitUntilCancelled()
    }
    queue.add(timed, behind)
    #expect(await eventually { timed.waitingCall != nil && behind.waitingCall != nil })
    for _ in 0..<19 {
      time.advance(by: .seconds(1))
      await Task.yield()
    }
    #expect(reports.events.isEmpty)
    source.disarmDeadline()
    while reports.events.count < 2 {
      time.advance(by: .seconds(1))
      await Task.yield()
    }
    #expect(
      reports.events.allSatisfy { $0.code == .callAwaited && ($0.age ?? .zero) >= .seconds(3) })
    #expect(Set(reports.events.map(\.procedureName)) == ["timed", "behind"])
    source.cancel()
    await queue.waitUntilAllFinished()
  }

  @Test("Q7: a report of a body's wait for a procedure's token names that procedure")
  func tokenOfProcedure() async {
    let (queue, time, reports) = makeReporting("queue")
    let gate = Gate()
    let other = AsyncProcedure(name: "other") { @Sendable in await gate.wait() }
    let waiting = AsyncProcedure(name: "waiting") { @Sendable in
      await other.cancellationToken.waitUntilCancelled()
    }
    queue.add(GroupProcedure(name: "group", other), waiting)
    #expect(await eventually { waiting.waitingCall != nil })
    // A call is noted before the look for it is set.
    while reports.events.isEmpty {
      time.advance(by: .seconds(1))
      await Task.yield()
    }
    let text = reports.events.first?.description ?? ""
    #expect(text.contains("'waiting' has waited in waitUntilCancelled() of a token for "))
    #expect(
      text.hasSuffix(
        ", and that is the token of 'other': it is cancelled with 'other', or completes when 'other' finishes."
      ), "\(text)")
    gate.open()
    await queue.waitUntilAllFinished()
  }

  @Test("Q7: the next event or fraction of a procedure that has started is no wait for its end")
  func nextOfStarted() async {
    let queue = ProcedureQueue(name: "queue")
    let gate = Gate()
    let group = GroupProcedure(name: "group") {
      AsyncProcedure(name: "worker") { @Sendable in await gate.wait() }
    }
    let progress = AsyncProcedure(name: "progress") { @Sendable [unowned group] in
      for await fraction in group.progressUpdates where fraction > 0.3 { return }
    }
    let events = AsyncProcedure(name: "events") { @Sendable [unowned group] in
      for await event in group.events { if case .didAdd = event { return } }
    }
    group.add(children: [progress, events])
    let own = AsyncResultProcedure<Void>(name: "own") { @Sendable procedure in
      for await event in procedure.events { if case .didCancel = event { return } }
    }
    queue.add(group, own)
    #expect(
      await eventually { [progress, events, own].allSatisfy { $0.waitingCall != nil } })
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    #expect(events.wait.summary == "it waits in events of 'group'")
    group.add(child: BlockProcedure(name: "late") {})
    gate.open()
    own.cancel()
    await queue.waitUntilAllFinished()
    #expect(group.outcome == .succeeded && own.isCancelled && own.errors.isEmpty)
  }

  @Test("Q7: who awaits the next event of one that never starts without it is in a cycle")
  func nextOfPending() async {
    let queue = ProcedureQueue(name: "queue")
    let next = BlockProcedure(name: "next") {}
    let reader = AsyncProcedure(name: "reader") { @Sendable in for await _ in next.events {} }
    next.add(dependency: reader)
    queue.add(reader, next)
    await queue.waitUntilAllFinished()
    let error = reader.errors.first as? ProcedureError
    #expect(error?.cycle.sorted() == ["next", "reader"])
    #expect("\(error ?? ProcedureError(.timedOut))".contains("waits in events of 'next'"))
  }

  @Test("Q7: a wait for the next event is reported if nothing goes on that may bring one")
  func nextOfIdle() async {
    let (queue, time, reports) = makeReporting("queue")
    let gate = Gate()
    let group = GroupProcedure(name: "group") {
      AsyncProcedure(name: "worker") { @Sendable in await gate.wait() }
    }
    let logger = AsyncProcedure(name: "logger") { @Sendable [unowned group] in
      for await fraction in group.progressUpdates where fraction > 0.3 { return }
    }
    group.add(child: logger)
    let reading = Locked<Procedure?>(nil)
    let idle = AsyncProcedure(name: "idle") { @Sendable in
      await reading.withLock { $0 }?.waitUntilFinished()
    }
    let reader = AsyncProcedure(name: "reader") { @Sendable in for await _ in idle.events {} }
    reading.withLock { $0 = reader }
    queue.add(group, idle)
    #expect(await eventually { idle.waitingCall != nil && logger.waitingCall != nil })
    queue.add(reader)
    #expect(await eventually { reader.waitingCall != nil })
    // A call is noted before the look for it is set.
    while reports.events.isEmpty {
      time.advance(by: .seconds(1))
      await Task.yield()
    }
    for _ in 0..<20 { time.advance(by: .seconds(1)) }
    #expect(reports.events.map(\.code) == [.callAwaited])
    #expect(
      reports.events.first?.description.contains("'reader' has waited in events of 'idle'") == true)
    gate.open()
    idle.cancel()
    reading.withLock { $0 = nil }
    await queue.waitUntilAllFinished()
    #expect(group.outcome == .succeeded)
  }

  @Test("Q7: a task that was taken out of its line, and has no thread yet, waits for nothing")
  func resumedWithoutThread() async {
    let serial = DispatchQueue(label: "serial")
    let (queue, other) = (
      ProcedureQueue(name: "queue", underlyingQueue: serial), ProcedureQueue(name: "other")
    )
    let feed = ProcedureFeed(into: other, atMost: 1)
    let gate = Gate()
    await feed.add(AsyncProcedure(name: "first") { @Sendable in await gate.wait() })
    let empty = AsyncProcedure(name: "empty") { @Sendable in await other.waitUntilAllFinished() }
    let adding = AsyncProcedure(name: "adding") { @Sendable in
      await feed.add(BlockProcedure(name: "added") {})
    }
    queue.add(empty, adding)
    #expect(await eventually { empty.waitingCall != nil && adding.waitingCall != nil })
    // Their thread is busy.
    let busy = DispatchSemaphore(value: 0)
    serial.async { busy.wait() }
    gate.open()
    #expect(await eventually { other.count == 0 })
    #expect(empty.waitingCall == nil && adding.waitingCall == nil)
    let next = BlockProcedure(name: "next") {}
    next.add(dependency: empty)
    next.add(dependency: adding)
    other.add(next)
    #expect(WaitGraph(from: other.procedures + queue.procedures).prove().cycles.isEmpty)
    busy.signal()
    await next.waitUntilFinished()
    #expect(next.outcome == .succeeded && empty.outcome == .succeeded)
    #expect(adding.outcome == .succeeded)
    await other.waitUntilAllFinished()
  }

  @Test("X3: a handler or delay that is set while a wait lasts counts for that wait, from then on")
  func lateSettings() async {
    let time = TestClock()
    let queue = ProcedureQueue(name: "queue", clock: time.clock)
    let reports = Recorder<ProcedureDiagnostic>()
    func pass(seconds: Int) { for _ in 0..<seconds { time.advance(by: .seconds(1)) } }
    let source = CancellationTokenSource()
    func add(_ name: String) async {
      let procedure = AsyncProcedure(name: name) { @Sendable [token = source.token] in
        await token.waitUntilCancelled()
      }
      queue.add(procedure)
      #expect(await eventually { procedure.waitingCall != nil })
    }
    queue.waitReportDelay = .seconds(3)
    await add("before the handler")
    pass(seconds: 10)
    queue.diagnosticsHandler = { reports.note($0) }
    pass(seconds: 10)
    #expect(reports.events.map(\.procedureName) == ["before the handler"])
    queue.waitReportDelay = nil
    await add("before the delay")
    pass(seconds: 10)
    queue.waitReportDelay = .seconds(1_000)
    pass(seconds: 10)
    queue.waitReportDelay = .seconds(3)
    pass(seconds: 10)
    #expect(reports.events.map(\.procedureName) == ["before the handler", "before the delay"])
    queue.diagnosticsHandler = nil
    let lingering = TracedProcedure("lingering", end: .whenTold)
    queue.add(lingering)
    #expect(await eventually { lingering.isExecuting })
    lingering.cancel()
    queue.cancellationGracePeriod = .seconds(2)
    pass(seconds: 10)
    queue.diagnosticsHandler = { reports.note($0) }
    pass(seconds: 10)
    #expect(reports.events.map(\.code).last == .lingering)
    lingering.finish()
    source.cancel()
    await queue.waitUntilAllFinished()
  }

  @Test("Q7: in a shield, or an iterator that a token ends, a body waits as it does outside of it")
  func inTasksOfTheLibrary() async {
    let queue = ProcedureQueue(name: "serial", maxConcurrentProcedureCount: 1)
    let next = BlockProcedure(name: "next") {}
    let shielded = AsyncProcedure(name: "shielded") { @Sendable in
      _ = await withCancellationShield { await queue.run(next) }
    }
    queue.add(shielded)
    await queue.waitUntilAllFinished()
    let error = shielded.errors.first as? ProcedureError
    #expect(error?.cycle.sorted() == ["next", "shielded"])
    #expect("\(error ?? ProcedureError(.timedOut))".contains("waits in run(_:) of 'next'"))

    let source = CancellationTokenSource()
    let later = BlockProcedure(name: "later") {}
    let reader = AsyncProcedure(name: "reader") { @Sendable [token = source.token] in
      for await _ in later.events.prefix(until: token) {}
    }
    later.add(dependency: reader)
    queue.add(reader, later)
    // The token may end it.
    #expect(await eventually { reader.waitingCall != nil })
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    source.cancel()
    await queue.waitUntilAllFinished()
    #expect(reader.outcome == .succeeded && later.outcome == .succeeded)
  }

  @Test("Q7: an abandoned sequence that still waits is no wait of the body that has left it")
  func abandonedSequence() async {
    let queue = ProcedureQueue(name: "queue")
    let (gate, hasLeft, last) = (Gate(), Gate(), Gate())
    let slow = AsyncProcedure(name: "slow") { @Sendable in await gate.wait() }
    let source = CancellationTokenSource()
    let reader = AsyncProcedure(name: "reader") { @Sendable [token = source.token] in
      let deaf = AsyncStream<Int> {
        await withCancellationShield { _ = await slow.waitUntilFinished() }
        return nil
      }
      for await _ in deaf.prefix(until: token) {}
      hasLeft.open()
      await last.wait()
    }
    queue.add(slow, reader)
    #expect(await eventually { reader.waitingCall != nil })
    source.cancel()
    await hasLeft.wait()
    #expect(reader.waitingCall == nil, "\(reader.wait)")
    gate.open()
    last.open()
    await queue.waitUntilAllFinished()
  }

  @Test("Q7: a call under a time-out is reported only if none of those that it waits for goes on")
  func underTimeout() async {
    let (queue, time, reports) = makeReporting("queue")
    let gate = Gate()
    let slow = AsyncProcedure(name: "slow") { @Sendable in await gate.wait() }
    let source = CancellationTokenSource()
    let outer = AsyncProcedure(name: "outer") { @Sendable [token = source.token] in
      _ = try? await withTask(cancelledBy: token) { await queue.run(slow) }
    }
    queue.add(outer)
    #expect(await eventually { outer.waitingCall != nil })
    #expect(outer.wait.summary == "it waits in run(_:) for 'slow'")
    for _ in 0..<20 { time.advance(by: .seconds(1)) }
    #expect(reports.events.isEmpty)
    gate.open()
    await queue.waitUntilAllFinished()

    let serial = ProcedureQueue(name: "serial", maxConcurrentProcedureCount: 1, clock: time.clock)
    serial.diagnosticsHandler = { reports.note($0) }
    serial.waitReportDelay = .seconds(3)
    let blocked = AsyncProcedure(name: "blocked") { @Sendable [token = source.token] in
      _ = try? await withTask(cancelledBy: token) { await serial.run(BlockProcedure {}) }
    }
    serial.add(blocked)
    #expect(await eventually { blocked.waitingCall != nil && serial.count == 2 })
    // A call is noted before the look for it is set.
    while reports.events.isEmpty {
      time.advance(by: .seconds(1))
      await Task.yield()
    }
    for _ in 0..<20 { time.advance(by: .seconds(1)) }
    #expect(reports.events.map(\.code) == [.callAwaited])
    source.cancel()
    await serial.waitUntilAllFinished()
  }

  @Test(
    "Q7: a call that blocks in a later step of a body, or in a condition's, is a wait of theirs")
  func blockingInLaterSteps() async {
    @Sendable func block(for procedure: Procedure) { procedure.blockUntilFinished() }
    let queue = ProcedureQueue(name: "queue")
    let next = BlockProcedure(name: "next") {}
    let body = AsyncProcedure(name: "body") { @Sendable in
      await Task.yield()
      try? await Task.sleep(for: .milliseconds(1))
      block(for: next)
    }
    next.add(dependency: body)
    queue.add(body, next)
    await queue.waitUntilAllFinished()
    #expect((body.errors.first as? ProcedureError)?.cycle.sorted() == ["body", "next"])

    let (asking, after) = (BlockProcedure(name: "asking") {}, BlockProcedure(name: "after") {})
    asking.add(
      condition: AsyncCondition { @Sendable in
        block(for: after)
        return true
      })
    after.add(dependency: asking)
    queue.add(asking, after)
    await queue.waitUntilAllFinished()
    #expect((asking.errors.first as? ProcedureError)?.cycle.sorted() == ["after", "asking"])
  }

  @Test("Q7: a child whose group's hook blocks waits for the answer of its group")
  func blockingHook() async {
    final class Group: GroupProcedure, @unchecked Sendable {
      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] {
        if child.name == "first" { children[1].blockUntilFinished() }
        return errors
      }
    }
    let group = Group(children: [
      BlockProcedure(name: "first") {}, BlockProcedure(name: "second") {},
    ])
    group.name = "group"
    group.maxConcurrentChildCount = 1
    let queue = ProcedureQueue(name: "queue")
    queue.add(group)
    await queue.waitUntilAllFinished()
    let error = group.errors.first as? ProcedureError
    #expect(error?.cycle.sorted() == ["first", "group", "second"])
    #expect(
      "\(error ?? ProcedureError(.timedOut))".contains(
        "'first' waits for the answer of its group 'group'"))
  }

  @Test("Q4, Q7: a closure that hands over may block for whatever its source leaves free")
  func blockingHandOver() async {
    // 1. Its slot, and a dependent that was added before.
    let queue = ProcedureQueue(name: "queue", maxConcurrentProcedureCount: 1)
    let source = ResultProcedure(name: "source") { 1 }
    let (dependent, other) = (
      BlockProcedure(name: "dependent") {}, BlockProcedure(name: "other") {}
    )
    dependent.add(dependency: source)
    let target = TransformProcedure<Int, Int>(name: "target") { $0 }
    target.injectResult(from: source) { number in
      dependent.blockUntilFinished()
      other.blockUntilFinished()
      return number
    }
    queue.add(dependent, target, source, other)
    await queue.waitUntilAllFinished()
    #expect([dependent, target, source, other].allSatisfy { $0.outcome == .succeeded })

    // 2. Its category, and its place in a group.
    let holder = ResultProcedure(name: "holder") { 1 }
    holder.add(condition: MutuallyExclusive(named: "disk", in: domain))
    let group = GroupProcedure { holder }
    let writer = BlockProcedure(name: "writer") {}
    writer.add(condition: MutuallyExclusive(named: "disk", in: domain))
    let reader = TransformProcedure<Int, Int>(name: "reader") { $0 }
    reader.injectResult(from: holder) { number in
      group.blockUntilFinished()
      writer.blockUntilFinished()
      return number
    }
    let wide = ProcedureQueue(name: "wide")
    wide.add(reader, group, writer)
    await wide.waitUntilAllFinished()
    #expect([reader, group, writer].allSatisfy { $0.outcome == .succeeded })
  }

  @Test("a body whose next step no thread comes to says so")
  func stepWithoutThread() async {
    let serial = DispatchQueue(label: "serial")
    let queue = ProcedureQueue(name: "queue", underlyingQueue: serial)
    let (begun, gate) = (Gate(), Gate())
    let body = AsyncProcedure(name: "body") { @Sendable in
      begun.open()
      await gate.wait()
    }
    queue.add(body)
    await begun.wait()
    let busy = DispatchSemaphore(value: 0)
    serial.async { busy.wait() }
    gate.open()
    #expect(
      await eventually {
        body.wait.summary == "its body is to go on, and waits for a thread"
      })
    busy.signal()
    await queue.waitUntilAllFinished()
  }

  @Test("Q7: a wait that a token may end is no cycle")
  func underDeadline() async {
    let queue = ProcedureQueue(name: "serial", maxConcurrentProcedureCount: 1)
    let source = CancellationTokenSource()
    let next = BlockProcedure(name: "next") {}
    let body = AsyncProcedure(name: "body") { @Sendable [token = source.token] in
      _ = try? await withTask(cancelledBy: token) { await queue.run(next) }
    }
    queue.add(body)
    #expect(await eventually { body.waitingCall != nil })
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    source.cancel()
    await queue.waitUntilAllFinished()
    #expect(body.outcome == .succeeded && next.isCancelled)
  }
}
