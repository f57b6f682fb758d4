import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct WaitCycleTests {
  private let scheduler = ManualScheduler()
  private let domain = ExclusionDomain(name: "cycles")

  private func makeQueue(limit: Int = .max) -> ProcedureQueue {
    ProcedureQueue(maxConcurrentProcedureCount: limit, scheduler: scheduler)
  }

  private func make(_ name: String, after others: Procedure...) -> TracedProcedure {
    let procedure = TracedProcedure(name)
    procedure.add(dependencies: others)
    return procedure
  }

  /// The names that each of `procedures` was cancelled with.
  private func expectCycle(
    _ names: [String], _ procedures: [Procedure], _ location: SourceLocation = #_sourceLocation
  ) {
    for procedure in procedures {
      #expect(procedure.isFinished && procedure.isCancelled, sourceLocation: location)
      let error = procedure.errors.first as? ProcedureError
      #expect(error?.code == .dependencyCycle && error?.cycle == names, sourceLocation: location)
    }
  }

  @Test("Q7: a dependency cycle ends with an error that names its members in order")
  func cycle() {
    let queue = makeQueue()
    let (a, b, c) = (make("a"), make("b"), make("c"))
    a.add(dependency: b)
    b.add(dependency: c)
    c.add(dependency: a)
    let bystander = make("bystander", after: b)
    let dependency = make("dependency")
    a.add(dependency: dependency)
    let diagnostics = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = { diagnostics.note($0) }
    queue.add(a, b, c, bystander, dependency)
    scheduler.run()
    expectCycle(["a", "b", "c"], [a, b, c])
    #expect(bystander.outcome == .succeeded)
    #expect(queue.count == 0)
    #expect(diagnostics.events.map(\.code) == [.waitCycle])
    #expect(
      "\(diagnostics.events[0])".contains(
        "'a' waits for 'b'; 'b' waits for 'c'; 'c' waits for 'a'"))
  }

  @Test("Q7: a cycle across queues ends, though its members are added one by one")
  func acrossQueues() {
    let (first, second) = (makeQueue(), makeQueue())
    let (a, b) = (make("a"), make("b"))
    a.add(dependency: b)
    first.add(a)
    scheduler.run()
    #expect(!a.isFinished)
    b.add(dependency: a)
    second.add(b)
    scheduler.run()
    expectCycle(["b", "a"], [a, b])
  }

  @Test("Q7: a cycle across queues is reported once to the handler of each that has a member")
  func reportsAcrossQueues() {
    let queues = (0..<4).map { _ in makeQueue() }
    let reports = queues.map { _ in Recorder<ProcedureDiagnostic>() }
    for (queue, reports) in zip(queues, reports) {
      queue.diagnosticsHandler = { reports.note($0) }
    }
    let (a, b, c) = (make("a"), make("b"), make("c"))
    a.add(dependency: b)
    b.add(dependency: c)
    c.add(dependency: a)
    queues[0].add(a, b)
    queues[1].add(make("bystander", after: a))
    queues[2].isSuspended = true
    queues[3].add(make("other"))
    scheduler.run()
    queues[2].add(c)
    scheduler.run()
    #expect(a.isCancelled && b.isCancelled && c.isCancelled)
    #expect(reports.map(\.events.count) == [1, 0, 1, 0])
    #expect(reports[0].events.map { "\($0)" } == reports[2].events.map { "\($0)" })
    queues[2].isSuspended = false
    scheduler.run()
    #expect(queues.allSatisfy { $0.count == 0 })
  }

  @Test(
    "Q7: a cycle that ends a call is written to standard error only if no queue of a member has a handler"
  )
  func reportsThroughACall() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let reports = Recorder<String>()
      for hasHandler in [true, false] {
        let queue = ProcedureQueue()
        if hasHandler { queue.diagnosticsHandler = { reports.note("\($0.code)") } }
        let condition = MutuallyExclusive(named: "m", in: ExclusionDomain(name: "call"))
        let outer = AsyncProcedure(name: hasHandler ? "handled" : "plain") {
          await withProcedureQueue { inside in
            let inner = BlockProcedure(name: "inner") {}
            inner.add(condition: condition)
            inside.add(inner)
          }
        }
        outer.add(condition: condition)
        queue.add(outer)
        await queue.waitUntilAllFinished()
        #expect(outer.isCancelled)
      }
      #expect(reports.events == ["waitCycle"])
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("Procedures: ") }
    #expect(lines.count == 1 && lines[0].contains("'plain' waits in"), "\(lines)")
  }

  @Test("Q7: a dependency added while pending closes a cycle")
  func lateDependency() {
    let queue = makeQueue()
    let gate = TracedProcedure("gate", end: .whenTold)
    let (a, b) = (make("a", after: gate), make("b"))
    b.add(dependency: a)
    queue.add(a, b, gate)
    scheduler.run()
    a.add(dependency: b)
    scheduler.run()
    // Whatever becomes of the gate.
    expectCycle(["a", "b"], [a, b])
    #expect(gate.isExecuting)
    gate.finish()
    scheduler.run()
  }

  @Test(
    "Q7: a cycle of a child that waits for its group, or a group that waits for its child, ends")
  func childAndGroup() {
    let queue = makeQueue()
    let child = make("child")
    let group = GroupProcedure(GroupProcedure(child))
    group.name = "group"
    child.add(dependency: group)
    queue.add(group)
    scheduler.run()
    #expect(group.isFinished && child.isFinished)
    expectCycle(["group", "GroupProcedure", "child"], [child, group])

    let other = make("other")
    let late = GroupProcedure(other)
    late.name = "late"
    late.add(dependency: other)
    queue.add(late)
    scheduler.run()
    expectCycle(["late", "other"], [other, late])
  }

  @Test("Q7: a cycle ends that a child added to an executing group closes")
  func lateChild() {
    let queue = makeQueue()
    let first = TracedProcedure("first", end: .whenTold)
    let group = GroupProcedure(first)
    group.name = "group"
    queue.add(group)
    scheduler.run()
    let child = make("child", after: group)
    group.add(child: child)
    first.finish()
    scheduler.run()
    expectCycle(["group", "child"], [child, group])
  }

  @Test(
    "Q7: a cycle ends in which a group holds the only slot, and its child waits for one that needs it"
  )
  func slot() {
    let queue = makeQueue(limit: 1)
    let outside = make("outside")
    let child = make("child", after: outside)
    let group = GroupProcedure(child)
    group.name = "group"
    queue.add(group, outside)
    scheduler.run()
    expectCycle(["group", "child", "outside"], [group, child, outside])
  }

  @Test("Q7: with a second slot there is no cycle")
  func enoughSlots() {
    let queue = makeQueue(limit: 2)
    let outside = make("outside")
    let group = GroupProcedure(make("child", after: outside))
    queue.add(group, outside)
    scheduler.run()
    #expect(group.outcome == .succeeded)
  }

  @Test(
    "Q7: a racer that waits behind its own race is left alone while another may win",
    arguments: [false, true])
  func race(isNested: Bool) {
    let queue = makeQueue(limit: 1)
    let login = make("login")
    let north = Racer()
    let south = make("south", after: login)
    let race = RaceProcedure<Int>(name: "race", [north])
    race.add(child: isNested ? GroupProcedure(GroupProcedure(south)) : south)
    queue.add(race, login)
    scheduler.run(patience: .seconds(2))
    #expect([race, north, south, login].allSatisfy { !$0.isCancelled && !$0.isFinished })
    north.finish(withResult: .success(1))
    scheduler.run()
    #expect(race.outcome == .succeeded && (try? race.output?.get()) == 1)
    #expect(south.outcome == .cancelled([]) && login.outcome == .succeeded)
  }

  @Test("Q7: a racer that waits behind its own race is in a cycle when no other is left")
  func lostRace() {
    let queue = makeQueue(limit: 1)
    let login = make("login")
    let north = Racer()
    let south = make("south", after: login)
    let race = RaceProcedure<Int>(name: "race", [north])
    race.add(child: south)
    queue.add(race, login)
    scheduler.run(patience: .seconds(2))
    north.finish(withError: TestError("lost"))
    scheduler.run()
    expectCycle(["race", "south", "login"], [south, login])
    #expect(race.isCancelled && queue.count == 0)
  }

  @Test(
    "Q7: a child that waits behind its own group is left alone while the failure of another may cancel it",
    arguments: [true, false])
  func policy(fails: Bool) {
    let queue = makeQueue(limit: 1)
    let login = make("login")
    let other = TracedProcedure("other", end: .whenTold)
    let child = make("child", after: login)
    let group = GroupProcedure(name: "group", other, child)
    group.failurePolicy = .cancelRemaining
    queue.add(group, login)
    scheduler.run(patience: .seconds(2))
    #expect([group, other, child, login].allSatisfy { !$0.isCancelled && !$0.isFinished })
    if fails {
      other.finish(withError: TestError("other"))
      scheduler.run()
      #expect(child.isCancelled && group.failed && login.outcome == .succeeded)
    } else {
      other.finish()
      scheduler.run()
      expectCycle(["group", "child", "login"], [group, child, login])
    }
    #expect(queue.count == 0)
  }

  @Test("Q7: a cycle ends in which a child waits for one that waits for its group's category")
  func exclusion() {
    let queue = makeQueue()
    let outside = make("outside")
    outside.add(condition: MutuallyExclusive(named: "disk", in: domain))
    let child = make("child", after: outside)
    let group = GroupProcedure(child)
    group.name = "group"
    group.add(condition: MutuallyExclusive(named: "disk", in: domain))
    queue.add(group, outside)
    scheduler.run()
    expectCycle(["group", "child", "outside"], [group, child, outside])
  }

  @Test("Q7: a cycle of a procedure and its prerequisite ends")
  func prerequisite() {
    let queue = makeQueue()
    let procedure = make("procedure")
    procedure.add(
      condition: BlockCondition { true }.withPrerequisites { procedure in
        let brought = TracedProcedure("brought")
        brought.add(dependency: procedure)
        return [brought]
      })
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.isFinished && queue.count == 0)
    let error = procedure.errors.first as? ProcedureError
    #expect(error?.cycle == ["procedure", "brought"])
  }

  @Test("Q7: procedures that may still end are left alone")
  func noCycle() {
    let queue = makeQueue()
    let unqueued = make("unqueued")
    let waiting = make("waiting", after: unqueued)
    let suspended = GroupProcedure(make("child"))
    suspended.isSuspended = true
    let held = make("held")
    let events = Recorder<PendingEvent>()
    held.addWillExecuteBlockObserver { _, event in events.note(event) }
    let chain = make("chain", after: waiting, suspended, held)
    queue.add(waiting, suspended, held, chain)
    scheduler.run(patience: .seconds(2))
    #expect([waiting, suspended, held, chain].allSatisfy { !$0.isCancelled && !$0.isFinished })
    suspended.isSuspended = false
    for event in events.events { event.release() }
    queue.add(unqueued)
    scheduler.run()
    #expect(queue.count == 0)
    #expect(chain.outcome == .succeeded)
  }

  @Test("Q7: no look is scheduled for groups that start, nor for a suspended queue")
  func looksAtNothing() {
    let queue = makeQueue()
    queue.add(GroupProcedure(make("child"), GroupProcedure(make("grandchild"))))
    scheduler.run()
    queue.isSuspended = true
    queue.add(make("ready"), GroupProcedure(make("child")))
    #expect(scheduler.quietWorkCount == 0)
    queue.add(make("waiting", after: make("unqueued")))
    #expect(scheduler.quietWorkCount == 1)
  }

  @Test(
    "Q7: a cycle of a barrier and a procedure before it ends, whether the barrier is a group or not",
    arguments: [false, true])
  func barrierInACycle(isGroup: Bool) {
    let queue = makeQueue()
    let barrier = isGroup ? GroupProcedure(name: "barrier", make("child")) : make("barrier")
    let x = make("x", after: barrier)
    queue.add(x)
    scheduler.run()
    queue.add(barrier: barrier)
    scheduler.run()
    expectCycle(["x", "barrier"], [x, barrier])
  }

  @Test("Q7: a cycle of a barrier and a group behind it ends")
  func groupBehindABarrier() {
    let queue = makeQueue()
    let group = GroupProcedure(name: "group", make("child"))
    let x = make("x", after: group)
    queue.add(x)
    queue.add(barrier: make("barrier"))
    scheduler.run()
    queue.add(group)
    scheduler.run()
    #expect([x, group].allSatisfy { $0.isFinished } && queue.count == 0)
  }

  @Test("Q7: a cycle of a child and its group ends that begins when a dependency finishes")
  func closedByTheEndOfADependency() {
    let (queue, other) = (makeQueue(), makeQueue())
    let x = make("x")
    let child = make("child", after: x)
    let group = GroupProcedure(name: "group", child)
    group.add(dependency: child)
    queue.add(group)
    scheduler.run()
    other.add(x)
    scheduler.run()
    expectCycle(["group", "child"], [group])
    #expect(child.isFinished)
  }

  @Test("Q7: a cycle with a barrier ends that begins when a dependency finishes")
  func closedBehindABarrier() {
    let (queue, other) = (makeQueue(), makeQueue())
    let x = make("x")
    let p = make("p", after: x)
    let barrier = make("barrier", after: p)
    queue.add(barrier: barrier)
    queue.add(p)
    scheduler.run()
    other.add(x)
    scheduler.run()
    expectCycle(["barrier", "p"], [barrier, p])
  }

  @Test("Q7: a cycle in a suspended queue ends")
  func cycleWhileSuspended() {
    let queue = makeQueue()
    queue.isSuspended = true
    let (a, b) = (make("a"), make("b"))
    a.add(dependency: b)
    b.add(dependency: a)
    queue.add(make("ready"), a, b)
    scheduler.run()
    expectCycle(["a", "b"], [a, b])
  }

  @Test(
    "Q7: a cycle ends although something else executes, and one that is undone before the look is none"
  )
  func besideWork() {
    let queue = makeQueue()
    let running = TracedProcedure("running", end: .whenTold)
    let (a, b, c, d) = (make("a"), make("b"), make("c"), make("d"))
    a.add(dependency: b)
    b.add(dependency: a)
    c.add(dependency: d)
    d.add(dependency: c)
    queue.add(running, a, b, c, d)
    c.remove(dependency: d)
    scheduler.run()
    expectCycle(["a", "b"], [a, b])
    #expect(running.isExecuting && c.outcome == .succeeded && d.outcome == .succeeded)
    running.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }

  /// A group that holds a category and waits for `second`, which has room beside it but stands in
  /// line behind a procedure that has none.
  private func makeLine(behind large: Procedure, taking places: Int?) -> (Procedure, Procedure) {
    let index = ExclusionCategory(named: "index", in: domain)
    let second = make("second")
    let first = GroupProcedure(name: "first", make("inner", after: second))
    for small in [first, second] {
      small.add(
        condition: places.map { AtMost(4, of: index, taking: $0) } ?? AtMost(.max, of: index))
    }
    large.add(
      condition: places == nil ? AtMost(1, of: index) : AtMost(4, of: index, taking: 4))
    return (first, second)
  }

  @Test(
    "Q7, L5: a procedure in line behind a racer is left alone while another racer may win",
    arguments: [nil, 1, 2])
  func lineBehindRacer(places: Int?) {
    let queue = makeQueue()
    let (writer, other) = (Racer().named("writer"), Racer().named("other"))
    let (first, second) = makeLine(behind: writer, taking: places)
    let race = RaceProcedure<Int>(name: "race", [writer, other])
    queue.add(first, race)
    scheduler.run()
    queue.add(second)
    scheduler.run(patience: .seconds(2))
    let snapshot = "\(queue.snapshot())"
    #expect(snapshot.contains("'second' pending: it waits for 'index', in line behind 'writer'"))
    #expect(snapshot.contains("'writer' pending: it waits for 'index', held by 'first'"))
    #expect([first, second, race, writer, other].allSatisfy { !$0.isCancelled && !$0.isFinished })
    other.finish(withResult: .success(2))
    scheduler.run()
    #expect([first, second, race].allSatisfy { $0.outcome == .succeeded })
    #expect(writer.outcome == .cancelled([]) && queue.count == 0)
  }

  @Test(
    "Q7, L5: a cycle through the line of a category is found, and says who stands behind whom",
    arguments: [nil, 1, 2])
  func line(places: Int?) {
    let queue = makeQueue()
    let diagnostics = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = { diagnostics.note($0) }
    let writer = make("writer")
    let (first, second) = makeLine(behind: writer, taking: places)
    queue.add(first)
    scheduler.run()
    queue.add(writer, second)
    scheduler.run(patience: .seconds(2))
    expectCycle(["first", "inner", "second", "writer"], [second, writer])
    let sentence =
      "'second' waits for 'index', in line behind 'writer'; "
      + "'writer' waits for 'index', held by 'first'. Remove one of the waits."
    #expect(diagnostics.events.map { "\($0)".hasSuffix(sentence) } == [true])
    #expect(queue.count == 0)
  }

  @Test("Q7: a procedure in line is in no cycle if the holders can end that keep the first one out")
  func lineOfTwoCategories() {
    let queue = makeQueue()
    let index = ExclusionCategory(named: "index", in: domain)
    let other = ExclusionCategory(named: "other", in: domain)
    let second = make("second")
    second.add(condition: AtMost(2, of: index))
    let reader = TracedProcedure("reader", end: .whenTold)
    reader.add(condition: AtMost(2, of: index))
    // The writer needs another category, too, whose holder waits for the second reader. When the
    // first reader has ended, the writer stands in that category's line, in nobody's way here.
    let holder = GroupProcedure(name: "holder", make("inner", after: second))
    holder.add(condition: MutuallyExclusive(of: other))
    let writer = make("writer")
    writer.add(condition: MutuallyExclusive(of: index))
    writer.add(condition: MutuallyExclusive(of: other))
    queue.add(reader, holder, writer)
    scheduler.run()
    queue.add(second)
    scheduler.run(patience: .seconds(2))
    #expect([reader, holder, writer, second].allSatisfy { !$0.isCancelled && !$0.isFinished })
    reader.finish()
    scheduler.run()
    #expect([reader, holder, writer, second].allSatisfy { $0.outcome == .succeeded })
  }

  @Test("Q7: a look at a line costs those that hold and those that wait, not their product")
  func costOfLine() {
    func size(_ count: Int) -> Int {
      let queue = makeQueue()
      let index = ExclusionCategory(named: "index", in: ExclusionDomain(name: "cost"))
      func readers() -> [TracedProcedure] {
        (0..<count).map { number in
          let reader = TracedProcedure("reader \(number)", end: .whenToldOrCancelled)
          reader.add(condition: AtMost(.max, of: index))
          return reader
        }
      }
      let writer = make("writer")
      writer.add(condition: MutuallyExclusive(of: index))
      queue.add(readers())
      queue.add(writer)
      queue.add(readers())
      scheduler.run()
      defer {
        queue.cancelAll()
        scheduler.run()
      }
      return WaitGraph(from: queue.procedures).size
    }
    let (small, large) = (size(100), size(200))
    #expect(large > small && large <= 2 * small)
  }

  @Test("Q7: the error and the report say once of each member how it waits")
  func kinds() {
    let queue = ProcedureQueue(
      name: "api", maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let diagnostics = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = { diagnostics.note($0) }
    let refresh = make("refresh")
    let retry = RetryProcedure(name: "retry", max: 2) { self.make("request", after: refresh) }
    queue.add(retry, refresh)
    scheduler.run()
    let sentence =
      "'retry' waits for its child 'request'; 'request' waits for 'refresh'; "
      + "'refresh' waits for a slot of queue 'api' (limit 1), held by 'retry'. Remove one of the waits."
    #expect(diagnostics.events.map { "\($0)".hasSuffix(sentence) } == [true])
    // One cause is one error, in a group that wraps a member, too.
    #expect(retry.errors.count == 1 && "\(retry.errors[0])".hasSuffix(sentence))
    #expect(queue.count == 0)
  }

  @Test(
    "Q7: the error names all who hold what a member waits for, the first few by name",
    arguments: [true, false], [2, 7])
  func severalHolders(isSlot: Bool, count: Int) {
    let queue = ProcedureQueue(
      name: "api", maxConcurrentProcedureCount: isSlot ? count : .max, scheduler: scheduler)
    let diagnostics = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = { diagnostics.note($0) }
    let places = AtMost(count, of: ExclusionCategory(named: "c", in: domain))
    let last = make("last")
    let groups = (0..<count).map { GroupProcedure(name: "\($0)", make("in \($0)", after: last)) }
    if !isSlot { for procedure in groups + [last] { procedure.add(condition: places) } }
    queue.add(groups)
    scheduler.run()
    queue.add(last)
    scheduler.run()
    let sentence =
      "'last' waits for \(isSlot ? "a slot of queue 'api' (limit \(count))" : "'c'"), held by "
      + (count == 2 ? "'0' and '1'" : "'0', '1', '2', '3', '4' and 2 more")
      + ". Remove one of the waits."
    #expect(diagnostics.events.map { "\($0)".hasSuffix(sentence) } == [true])
    #expect(queue.count == 0)
  }

  @Test(
    "Q7: the error of one that waits for room names the others that have it", arguments: [1, 2])
  func severalInFeed(count: Int) async {
    let queue = ProcedureQueue(name: "q", scheduler: scheduler)
    let diagnostics = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = { diagnostics.note($0) }
    let feed = ProcedureFeed(into: queue, atMost: count)
    let bodies = ["a", "b"].prefix(count).map { name in
      AsyncProcedure(name: name) { await feed.add(BlockProcedure {}) }
    }
    for body in bodies { #expect(feed.addIfRoom(body)) }
    scheduler.run()
    let beginning = count == 1 ? "its own end" : "itself, among others"
    #expect(
      diagnostics.events.map { "\($0)" } == [
        "'a' waits for \(beginning): 'a' waits in add(_:) of a feed of queue 'q' for a place, held by "
          + (count == 1 ? "'a'" : "'a' and 'b'") + ". Remove that wait."
      ])
    #expect(bodies.map(\.isCancelled) == [true, false].prefix(count).map { $0 })
    // What was not added ends on no queue.
    #expect(
      await eventually {
        scheduler.run()
        return queue.count == 0
      })
  }

  @Test("Q7: a group whose turn is in user code waits for nothing, however many look")
  func busyTurn() {
    final class Slow: GroupProcedure, @unchecked Sendable {
      let inHook: @Sendable (Procedure) -> Void
      init(_ children: [Procedure], inHook: @escaping @Sendable (Procedure) -> Void) {
        self.inHook = inHook
        super.init(children: children)
      }
      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] {
        inHook(self)
        return errors
      }
    }
    let queue = makeQueue()
    let (first, second) = (make("first"), TracedProcedure("second", end: .whenTold))
    let waits = Recorder<String>()
    let group = Slow([second, first]) { [scheduler] group in
      // The other child has ended, and waits for the answer of the group, which is in this hook.
      second.finish()
      scheduler.run()
      if let wait = group.wait.summary { waits.note(wait) }
      if !WaitGraph(from: queue.procedures).prove().cycles.isEmpty { waits.note("cycle") }
    }
    let after = make("after", after: group)
    queue.add(group, after)
    scheduler.run()
    #expect(waits.events == [])
    #expect(group.outcome == .succeeded && after.outcome == .succeeded)
  }

  @Test(
    "Q7: a look through many that wait for the holders of slots, or of places, costs their sum",
    arguments: [true, false])
  func sharedHolders(_ isSlot: Bool) {
    let (holderCount, waitingCount) = (100, 1_000)
    let queue = ProcedureQueue(
      maxConcurrentProcedureCount: isSlot ? holderCount : .max, scheduler: scheduler)
    func add(_ procedure: TracedProcedure) {
      if !isSlot {
        procedure.add(condition: AtMost(holderCount, of: ExclusionCategory(named: "c", in: domain)))
      }
      queue.add(procedure)
    }
    let holders = (0..<holderCount).map { TracedProcedure("holder \($0)", end: .whenTold) }
    for holder in holders { add(holder) }
    scheduler.run()
    let waiting = (0..<waitingCount).map { TracedProcedure("waiting \($0)") }
    for procedure in waiting { add(procedure) }
    scheduler.run()
    #expect(waiting.allSatisfy { $0.wait.awaited.count == holderCount })
    let graph = WaitGraph(from: queue.procedures)
    #expect(graph.size < 4 * (holderCount + waitingCount))
    #expect(graph.prove().cycles.isEmpty)
    #expect(queue.snapshot().entries.last?.waitsFor.count == holderCount)
    for holder in holders { holder.finish() }
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test(
    "Q7: holders of places that all wait for one behind them are a cycle; with one that can end they are none"
  )
  func sharedHoldersInCycle() {
    for hasHealthy in [false, true] {
      let queue = makeQueue()
      let places = AtMost(3, of: ExclusionCategory(named: "c", in: domain))
      let last = make("last")
      let groups = (0..<3).map { number in
        // The child needs one that waits for a place.
        let child =
          hasHealthy && number == 2
          ? TracedProcedure("healthy", end: .whenToldOrCancelled)
          : make("child \(number)", after: last)
        return GroupProcedure(child).named("group \(number)")
      }
      for group in groups { group.add(condition: places) }
      let waiting = (0..<5).map { make("waiting \($0)") } + [last]
      for procedure in waiting { procedure.add(condition: places) }
      queue.add(groups)
      scheduler.run()
      queue.add(waiting)
      scheduler.run()
      if hasHealthy {
        #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
        #expect(groups.allSatisfy { !$0.isCancelled } && !last.isCancelled)
        groups[2].children.first?.cancel()
        scheduler.run()
        #expect(last.outcome == .succeeded && queue.count == 0)
      } else {
        scheduler.run()
        #expect(last.isCancelled)
        #expect(waiting.dropLast().allSatisfy { $0.outcome == .succeeded } && queue.count == 0)
      }
    }
  }

  @Test("Q7: no procedure waits for ever on Dispatch's threads")
  func onDispatch() async {
    let queue = ProcedureQueue()
    let procedures = (0..<1_000).map { make("\($0)") }
    for (procedure, next) in zip(procedures, procedures.dropFirst() + procedures.prefix(1)) {
      procedure.add(dependency: next)
    }
    queue.add(procedures)
    await queue.waitUntilAllFinished()
    #expect(procedures.allSatisfy { $0.isCancelled })
  }
}

/// A racer that ends when the test says so.
private final class Racer: Procedure, OutputProcedure, @unchecked Sendable {
  typealias Output = Int

  override func execute() {}
}
