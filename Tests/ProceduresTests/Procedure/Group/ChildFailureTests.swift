import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ChildFailureTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  /// Notes what it hears of children, and takes over what `decide` says.
  private final class Hearing: GroupProcedure, @unchecked Sendable {
    private let trace: Recorder<String>
    private let decide: @Sendable (Hearing, Procedure, [any Error]) -> [any Error]

    init(
      _ children: [Procedure], _ trace: Recorder<String>,
      decide: @escaping @Sendable (Hearing, Procedure, [any Error]) -> [any Error] = { $2 }
    ) {
      self.trace = trace
      self.decide = decide
      super.init(children: children)
    }

    override func child(
      _ child: Procedure, willFinishWithErrors errors: [any Error]
    ) -> [any Error] {
      let state = child.isCancelled ? "cancelled" : "ended"
      trace.note("\(child.name) \(state) \(errors)")
      #expect(!child.isFinished)
      return decide(self, child, errors)
    }
  }

  private func failing(_ name: String) -> TracedProcedure {
    TracedProcedure(name, trace: trace, failure: TestError(name))
  }

  @Test("G6, G8: a group decides together about children that end while its turn is held")
  func heardTogether() {
    let children = [failing("a"), TracedProcedure("b"), failing("c")]
    let group = GroupProcedure(children: children)
    let scheduler = scheduler
    // In the group's turn, on another worker's stack.
    group.addDidExecuteBlockObserver { _ in
      while scheduler.runOne() {}
      #expect(children.allSatisfy { !$0.isFinished && $0.state == .finishing })
    }
    makeQueue().add(group)
    scheduler.run()
    #expect(children.allSatisfy { $0.isFinished })
    #expect(group.errors.map { ($0 as? ProcedureError)?.procedure } == ["a", "c"])
    #expect(children[1].outcome == .succeeded)
  }

  @Test(
    "C1: a cancelled group decides about no child before procedureDidCancel",
    arguments: [false, true])
  func cancelledGroupHearsLater(isEnqueued: Bool) async {
    final class Noting: GroupProcedure, @unchecked Sendable {
      let trace: Recorder<String>
      init(_ children: [Procedure], _ trace: Recorder<String>) {
        self.trace = trace
        super.init(children: children)
      }
      override func procedureDidCancel(withErrors errors: [any Error]) {
        trace.note("procedureDidCancel")
      }
      override func child(_ child: Procedure, willFinishWithErrors errors: [any Error])
        -> [any Error]
      {
        trace.note("heard \(child.name)")
        return errors
      }
    }
    let children = ["a", "b"].map { TracedProcedure($0, end: .whenToldOrCancelled) }
    let group = Noting(children, trace)
    let queue = makeQueue()
    if isEnqueued {
      queue.add(group)
      scheduler.run()
    }
    group.cancel()
    if !isEnqueued {
      // Before it is on a queue, its cancel is delivered on Dispatch.
      ProcedureQueue().add(group)
      _ = await group.waitUntilFinished()
    }
    scheduler.run()
    #expect(trace.events.first == "procedureDidCancel" && group.isFinished)
    #expect(trace.events.dropFirst().sorted() == ["heard a", "heard b"])
  }

  @Test(
    "C1: a group that is cancelled while it decides about children decides about the rest after procedureDidCancel"
  )
  func cancelledWhileHearing() {
    final class Noting: GroupProcedure, @unchecked Sendable {
      let trace: Recorder<String>
      init(_ children: [Procedure], _ trace: Recorder<String>) {
        self.trace = trace
        super.init(children: children)
      }
      override func procedureDidCancel(withErrors errors: [any Error]) { trace.note("didCancel") }
      override func child(_ child: Procedure, willFinishWithErrors errors: [any Error])
        -> [any Error]
      {
        trace.note("heard")
        cancel()
        return errors
      }
    }
    let queue = makeQueue()
    let busy = DispatchQueue(label: "busy", attributes: .initiallyInactive)
    let group = Noting(["a", "b", "c"].map { TracedProcedure($0, end: .whenTold) }, trace)
    group.addDidExecuteBlockObserver(synchronizedWith: busy) {}
    queue.add(group)
    scheduler.run()
    // The group's turn waits for its observer: what ends meanwhile is heard in one go.
    for child in group.children { child.finish() }
    scheduler.run()
    busy.activate()
    busy.sync {}
    scheduler.run()
    #expect(trace.events == ["heard", "didCancel", "heard", "heard"])
    #expect(group.isFinished && queue.count == 0)
  }

  @Test("C1: a cancelled group on threads decides about no child before procedureDidCancel")
  func cancelledGroupHearsLaterOnThreads() async {
    final class Noting: GroupProcedure, @unchecked Sendable {
      /// Whether it read cancelled before this turn, or at the end of the call before. It may be
      /// cancelled between the framework's last look and the first line of a call.
      var wasCancelled = false
      var wasTold = false
      var heardBefore = 0
      override func procedureDidCancel(withErrors errors: [any Error]) { wasTold = true }
      override func child(_ child: Procedure, willFinishWithErrors errors: [any Error])
        -> [any Error]
      {
        if wasCancelled, !wasTold { heardBefore += 1 }
        wasCancelled = isCancelled
        return errors
      }
    }
    let queue = ProcedureQueue()
    for round in 0..<Rounds.few {
      let group = Noting(children: (0..<4).map { _ in TracedProcedure() })
      if round % 2 == 0 {
        // Before: its turns begin with the cancel, though it is on no queue.
        group.wasCancelled = true
        group.cancel()
      }
      await race({ queue.add(group) }, { group.cancel() })
      _ = await group.waitUntilFinished()
      #expect(group.heardBefore == 0)
    }
  }

  @Test("G6: a child's failure or cancel touches neither siblings nor the group")
  func keepGoing() {
    let lasting = TracedProcedure("lasting", end: .whenTold)
    let cancelled = TracedProcedure("cancelled", end: .whenToldOrCancelled)
    let group = GroupProcedure(failing("a"), lasting, cancelled)
    makeQueue().add(group)
    scheduler.run()
    cancelled.cancel(withError: TestError("c"))
    scheduler.run()
    #expect(lasting.isExecuting && !lasting.isCancelled && !group.isCancelled)
    lasting.finish()
    scheduler.run()
    #expect(
      group.outcome?.deep
        == .failed([.child("a", TestError("a")), .child("cancelled", TestError("c"))]))
  }

  @Test("G6: cancelRemaining cancels the rest on the first failed child, and those added later")
  func cancelRemaining() {
    let executing = TracedProcedure("executing", trace: trace, end: .whenToldOrCancelled)
    let inner = GroupProcedure(TracedProcedure("deep", trace: trace, end: .whenToldOrCancelled))
    let last = TracedProcedure("last", trace: trace)
    let failure = TracedProcedure("bad", trace: trace, end: .whenTold)
    let group = GroupProcedure(executing, inner, failure, last)
    last.add(dependency: executing)
    group.failurePolicy = .cancelRemaining
    let late = TracedProcedure("late", trace: trace)
    failure.addDidFinishBlockObserver { [weak group] _, _ in group?.add(child: late) }
    makeQueue().add(group)
    scheduler.run()
    failure.finish(withError: TestError("bad"))
    scheduler.run()
    #expect(group.outcome?.deep == .failed([.child("bad", TestError("bad"))]))
    #expect([executing, last, inner].allSatisfy { $0.isCancelled && $0.isFinished })
    #expect(late.isFinished && !trace.events.contains("last execute"))
    let cause = ProcedureError(
      .siblingFailed, procedure: "bad", underlyingErrors: [TestError("bad")])
    #expect(executing.errors.deep == [.error(cause)])
  }

  @Test("G6: a child cancelled without errors is no failure; a cancelled group stays cancelled")
  func cancelIsNoFailure() {
    let (first, second) = (
      TracedProcedure("1", end: .whenToldOrCancelled), TracedProcedure("2", end: .whenTold)
    )
    let group = GroupProcedure(first, second)
    group.failurePolicy = .cancelRemaining
    makeQueue().add(group)
    scheduler.run()
    first.cancel()
    scheduler.run()
    #expect(first.isFinished && !second.isCancelled)
    second.finish(withError: TestError("2"))
    scheduler.run()
    group.cancel()
    #expect(group.outcome?.deep == .failed([.child("2", TestError("2"))]))
  }

  @Test("G6: a group may be cancelled after it cancelled the rest of its children")
  func cancelledAfterwards() {
    let stubborn = TracedProcedure("stubborn", end: .whenTold)
    let group = GroupProcedure(stubborn, failing("bad"))
    group.failurePolicy = .cancelRemaining
    makeQueue().add(group)
    scheduler.run()
    #expect(stubborn.isCancelled && !group.isCancelled)
    #expect(group.cancel(withErrors: [TestError("stop")]))
    stubborn.finish()
    scheduler.run()
    #expect(
      group.outcome?.deep
        == .cancelled([.error(TestError("stop")), .child("bad", TestError("bad"))]))
  }

  @Test(
    "G7: a group decides about every child, however it ends, and takes over the errors it chooses")
  func hearsEveryChild() {
    let cancelled = TracedProcedure("cancelled", end: .whenToldOrCancelled)
    let unsatisfied = TracedProcedure("unsatisfied")
    unsatisfied.add(condition: BlockCondition { throw TestError("condition") })
    let group = Hearing([BlockProcedure {}, failing("bad"), cancelled, unsatisfied], trace) {
      $2.isEmpty ? [] : [TestError("instead of \($1.name)")]
    }
    makeQueue().add(group)
    scheduler.run()
    cancelled.cancel()
    scheduler.run()
    #expect(
      Set(trace.events).isSuperset(of: [
        "BlockProcedure ended []", "bad ended [bad]", "cancelled cancelled []",
        "unsatisfied cancelled [condition]",
      ]))
    #expect(
      group.errors.deep.sorted() == [
        .child("bad", TestError("instead of bad")),
        .child("unsatisfied", TestError("instead of unsatisfied")),
      ])
  }

  @Test(
    "G7: a group does not fail by a failure that it deals with; a child added in its place is in time"
  )
  func recovers() {
    let bad = failing("bad")
    let dependent = TracedProcedure("dependent", trace: trace)
    dependent.add(dependency: bad)
    let group = Hearing([bad, dependent], trace) { [trace] group, child, errors in
      guard !errors.isEmpty else { return [] }
      group.add(child: TracedProcedure("spare", trace: trace))
      return []
    }
    group.failurePolicy = .cancelRemaining
    makeQueue().add(group)
    scheduler.run()
    #expect(group.outcome == .succeeded)
    #expect(trace.events.contains("spare execute"))
    let heard = trace.events.firstIndex(of: "bad ended [bad]")!
    #expect(heard < trace.events.firstIndex(of: "dependent execute")!)
  }

  @Test(
    "G7: a cancelled group decides about its children too, without the errors that it gave them")
  func cancelledGroup() {
    let group = Hearing([TracedProcedure("1", end: .whenToldOrCancelled)], trace)
    makeQueue().add(group)
    scheduler.run()
    group.cancel(withErrors: [TestError("stop")])
    scheduler.run()
    #expect(trace.events == ["1 cancelled []"])
    #expect(group.outcome == .cancelled([TestError("stop")]))
    #expect("\(group.children[0].errors)" == "[Its group 'Hearing' was cancelled: stop]")
    let pending = Hearing([TracedProcedure("2")], trace)
    let queue = makeQueue()
    queue.isSuspended = true
    queue.add(pending)
    pending.cancel()
    scheduler.run()
    #expect(pending.isFinished && trace.events.last == "2 cancelled []")
  }

  @Test("T1, G7: decisions of a group never overlap each other, nor its overrides")
  func neverOverlaps() async {
    let inside = Counter()
    let group = Hearing((0..<500).map { _ in BlockProcedure {} }, trace) { _, _, errors in
      inside.increment()
      inside.decrement()
      return errors
    }
    group.addDidCancelBlockObserver { _, _ in
      inside.increment()
      inside.decrement()
    }
    let queue = ProcedureQueue()
    queue.add(group)
    group.children[250].addDidFinishBlockObserver { [weak group] _, _ in group?.cancel() }
    _ = await group.waitUntilFinished()
    #expect(inside.highest == 1)
    #expect(trace.events.count == 500)
  }

  @Test("G7: an override that waits for another Dispatch queue is waited for, without a thread")
  func synchronised() async {
    let queue = ProcedureQueue()
    let group = Hearing((0..<50).map { _ in BlockProcedure {} }, trace)
    let other = DispatchQueue(label: "other")
    group.addWillExecuteBlockObserver(synchronizedWith: other) { _, _ in }
    group.addDidExecuteBlockObserver(synchronizedWith: other) { _ in }
    #expect(await queue.run(group) == .succeeded)
    #expect(trace.events.count == 50)
  }

  @Test("G8: errors name the child that they came from, once, however deep")
  func named() {
    let deep = GroupProcedure(GroupProcedure(failing("deep")), Hearing([failing("heard")], trace))
    makeQueue().add(deep)
    scheduler.run()
    #expect(
      deep.errors.deep.sorted() == [
        .child("deep", TestError("deep")), .child("heard", TestError("heard")),
      ])
  }
}
