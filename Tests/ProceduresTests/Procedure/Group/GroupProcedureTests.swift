import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct GroupProcedureTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("G1: children start only when the group executes, whether from init or add(child:)")
  func childrenStartWithTheGroup() {
    let (first, second) = (TracedProcedure("1", trace: trace), TracedProcedure("2", trace: trace))
    let gate = TracedProcedure("gate", trace: trace, end: .whenTold)
    let group = GroupProcedure(first)
    group.add(child: second)
    group.add(dependency: gate)
    group.addWillExecuteBlockObserver { [trace] _, _ in trace.note("group willExecute") }
    #expect(group.children == [first, second])
    makeQueue().add(gate, group)
    scheduler.run()
    #expect(first.isPending && trace.events == ["gate execute"])
    gate.finish()
    scheduler.run()
    #expect(
      trace.events.filter { $0.hasSuffix("xecute") } == [
        "gate execute", "group willExecute", "1 execute", "2 execute",
      ])
    #expect(group.children == [first, second] && group.isFinished)
  }

  @Test("G1: an empty group finishes; a subclass that forgets super.execute() does too")
  func emptyAndForgetful() {
    final class Forgetful: GroupProcedure, @unchecked Sendable {
      override func execute() { add(child: BlockProcedure {}) }
    }
    let (empty, forgetful) = (GroupProcedure(), Forgetful())
    makeQueue().add(empty, forgetful)
    scheduler.run()
    #expect(empty.isFinished && forgetful.isFinished)
    #expect(forgetful.children.allSatisfy { $0.isFinished })
  }

  @Test("G2: children added from execute(), from a child's observer and by produce are waited for")
  func childrenAddedWhileRunning() {
    final class Adding: GroupProcedure, @unchecked Sendable {
      override func execute() {
        add(child: BlockProcedure {})
        super.execute()
      }
    }
    let first = BlockProcedure { procedure in
      try procedure.produce(BlockProcedure {})
    }
    let group = Adding(first)
    let late = BlockProcedure {}
    first.addDidFinishBlockObserver { [weak group] _, _ in
      #expect(group?.add(child: late) == true)
    }
    makeQueue().add(group)
    scheduler.run()
    #expect(group.isFinished && late.isFinished)
    #expect(group.children.count == 4 && group.children.allSatisfy { $0.isFinished })
  }

  @Test("G2: a child added after the end is refused: cancelled with groupFinished, and finishes")
  func refused() async {
    let group = GroupProcedure(BlockProcedure {})
    group.name = "album"
    makeQueue().add(group)
    scheduler.run()
    let late = TracedProcedure()
    #expect(!group.add(child: late))
    #expect(late.isCancelled)
    scheduler.run()
    #expect(late.isFinished && group.children.count == 1 && group.errors.isEmpty)
    #expect(late.errors as? [ProcedureError] == [.init(.groupFinished, procedure: "album")])
  }

  @Test("G3: cancelling marks the whole subtree before any cancel is delivered; wrapped once")
  func cancelTree() {
    let leaf = TracedProcedure("leaf", trace: trace, end: .whenToldOrCancelled)
    let waiting = TracedProcedure("waiting", trace: trace)
    waiting.add(dependency: leaf)
    let inner = GroupProcedure(leaf, waiting)
    inner.name = "inner"
    let outer = GroupProcedure(inner)
    outer.name = "outer"
    let all = [outer, inner, leaf, waiting]
    for procedure in all {
      procedure.cancellationToken.onCancel { [trace, unowned outer, unowned inner, unowned leaf] in
        trace.note("token \([outer, inner, leaf].map(\.isCancelled))")
      }
      procedure.addDidCancelBlockObserver { [trace] procedure, _ in
        trace.note("\(procedure.name) didCancel \(waiting.isCancelled)")
      }
      procedure.addDidFinishBlockObserver { [trace] procedure, _ in
        trace.note("\(procedure.name) didFinish")
      }
    }
    makeQueue().add(outer)
    scheduler.run()
    #expect(trace.events == ["leaf execute"])
    outer.cancel(withErrors: [TestError("stop")])
    #expect(trace.events.filter { $0 == "token [true, true, true]" }.count == 4)
    scheduler.run()
    #expect(trace.events.filter { $0.hasSuffix("didCancel true") }.count == 4)
    #expect(!trace.events.contains("waiting execute"))
    let finishes = trace.events.filter { $0.hasSuffix(" didFinish") }
    #expect(Set(finishes.prefix(2)) == ["leaf didFinish", "waiting didFinish"])
    #expect(finishes.suffix(2) == ["inner didFinish", "outer didFinish"])
    for procedure in [inner, leaf, waiting] {
      let error = procedure.errors.first as? ProcedureError
      #expect(error == ProcedureError(.parentCancelled, procedure: "outer"))
      #expect(error?.underlyingErrors as? [TestError] == [TestError("stop")])
    }
    #expect(outer.outcome == .cancelled([TestError("stop")]))
  }

  @Test("G3: a group whose didCancel override unblocks its child does not wait for the child's")
  func overrideUnblocksChild() async {
    final class Owner: GroupProcedure, @unchecked Sendable {
      let unblock = Gate()
      override func procedureDidCancel(withErrors errors: [any Error]) { unblock.open() }
    }
    let owner = Owner()
    let entered = Gate()
    owner.add(
      child: BlockProcedure { [unblock = owner.unblock] in
        entered.open()
        unblock.block()
      })
    // Not the quality of the test runner's own threads, which must not be blocked.
    let queue = ProcedureQueue(qualityOfService: .utility)
    queue.add(owner)
    await entered.wait()
    owner.cancel()
    #expect(await owner.waitUntilFinished() == .cancelled([]))
  }

  @Test(
    "G4: a group that is cancelled before its start does not call execute(), and finishes after its children"
  )
  func cancelledBeforeStart() {
    final class Group: GroupProcedure, @unchecked Sendable {
      override func execute() { Issue.record("executed") }
    }
    let child = TracedProcedure("child", trace: trace)
    let group = Group(child)
    group.name = "group"
    group.addDidFinishBlockObserver { [trace] _, _ in trace.note("group didFinish") }
    let queue = makeQueue()
    queue.isSuspended = true
    queue.add(group)
    group.cancel()
    scheduler.run()
    #expect(
      trace.events == [
        "child procedureDidCancel", "child procedureWillFinish", "child procedureDidFinish",
        "group didFinish",
      ])
    #expect(queue.count == 0)
  }

  @Test("G5: a child added to a cancelled group is cancelled at once, and waited for")
  func addedToACancelledGroup() {
    let running = TracedProcedure("running", trace: trace, end: .whenTold)
    let group = GroupProcedure(running)
    makeQueue().add(group)
    scheduler.run()
    group.cancel(withError: TestError("stop"))
    let late = TracedProcedure("late", trace: trace)
    #expect(group.add(child: late))
    #expect(late.isCancelled)
    scheduler.run()
    #expect(late.isFinished && !group.isFinished)
    running.finish()
    scheduler.run()
    #expect(group.isFinished && !trace.events.contains("late execute"))
  }

  @Test(
    "a child's failure or cancel touches neither siblings nor group; errors name the child once")
  func errorsOfChildren() {
    let failing = TracedProcedure("failing", failure: TestError("broken"))
    let fine = TracedProcedure("fine")
    let group = GroupProcedure(GroupProcedure(failing), fine)
    makeQueue().add(group)
    scheduler.run()
    #expect(fine.outcome == .succeeded)
    #expect(group.errors.deep == [.child("failing", TestError("broken"))])
    #expect(!group.isCancelled)
  }

  @Test("G8: an error has the path of names from the group that reports it down to the child")
  func pathOfChild() throws {
    func step(_ name: String, failsIf fails: Bool) -> TracedProcedure {
      TracedProcedure(name, failure: fails ? TestError("tooLarge") : nil)
    }
    let files = (0..<3).map { index in
      GroupProcedure(
        name: "0000\(index).ppm",
        GroupProcedure(name: "open", step("read", failsIf: index == 1)),
        step("decode", failsIf: index == 2))
    }
    let all = GroupProcedure(children: files)
    makeQueue().add(all)
    scheduler.run()
    let errors = all.errors.compactMap { $0 as? ProcedureError }
    #expect(errors.map(\.path) == [["00001.ppm", "open", "read"], ["00002.ppm", "decode"]])
    #expect(errors.map(\.procedure) == ["read", "decode"])
    #expect("\(errors[0])" == "Child '00001.ppm › open › read': tooLarge")
    #expect("\(errors[1])" == "Child '00002.ppm › decode': tooLarge")
    #expect(errors.allSatisfy { $0.underlyingErrors.map { $0 is TestError } == [true] })
    let inner = try #require(files[1].errors.first as? ProcedureError)
    #expect(inner.path == ["open", "read"] && inner == errors[0])
    #expect(ProcedureError(.child, procedure: "a").path == ["a"])
    #expect(ProcedureError(.timedOut, procedure: "a").path.isEmpty)
  }

  @Test("G8, E2: a wrapper is a name on the path, and adds none below")
  func pathThroughWrappers() {
    let retry = RetryProcedure(max: 1) {
      GroupProcedure(name: "attempt", TracedProcedure("step", failure: TestError("e")))
    }
    retry.name = "retry"
    let group = GroupProcedure(GroupProcedure(name: "inner", retry))
    makeQueue().add(group)
    scheduler.run()
    #expect(group.errors.map { ($0 as? ProcedureError)?.path } == [["inner", "retry", "step"]])
  }

  @Test("G8: the path of groups nested thousands deep is made, and released, in a bounded stack")
  func deepPath() async {
    let scheduler = scheduler
    let depth = Rounds.size(20_000, otherwise: 6_000)
    let queue = makeQueue()
    let path = await onSmallStack {
      var group = GroupProcedure(TracedProcedure("deep", failure: TestError("e")))
      for _ in 0..<depth { group = GroupProcedure(group) }
      queue.add(group)
      scheduler.run()
      return (group.errors.first as? ProcedureError)?.path ?? []
    }
    #expect(path.count == depth + 1 && path.last == "deep")
  }

  @Test(
    "G5: a child added to a cancelled group that executes never executes, however fast a worker is")
  func addedToACancelledRunningGroup() async {
    let queue = ProcedureQueue(scheduler: EagerScheduler())
    let first = TracedProcedure("first", end: .whenTold)
    let group = GroupProcedure(first)
    await onThreadOfItsOwn { queue.add(group) }
    group.cancel()
    let late = TracedProcedure("late", trace: trace)
    await onThreadOfItsOwn { _ = group.add(child: late) }
    #expect(late.isCancelled && !trace.events.contains("late execute"))
    await onThreadOfItsOwn { _ = first.finish() }
    _ = await group.waitUntilFinished()
  }

  /// Does something when a child ends that was cancelled before.
  private final class Deciding: GroupProcedure, @unchecked Sendable {
    private let decide: @Sendable (Deciding) -> Void

    init(_ children: [Procedure], _ decide: @escaping @Sendable (Deciding) -> Void) {
      self.decide = decide
      super.init(children: children)
    }

    override func child(
      _ child: Procedure, willFinishWithErrors errors: [any Error]
    ) -> [any Error] {
      if child.isCancelled, child.name == "first" { decide(self) }
      return errors
    }
  }

  private func children(_ count: Int) -> [Procedure] {
    let first = TracedProcedure("first")
    first.cancel()
    return [first] + (1..<count).map { _ in BlockProcedure {} }
  }

  @Test("G2: a child that is added while the group takes others is a member too")
  func addedWhileBeingMade() async {
    for round in 0..<Rounds.few {
      let queue = ProcedureQueue()
      let count = [3, 30, 300][round % 3]
      let group = Deciding(children(count)) { $0.add(child: BlockProcedure {}) }
      let told = Counter()
      group.addDidAddProcedureBlockObserver { _, _ in told.increment() }
      queue.add(group)
      await queue.waitUntilAllFinished()
      #expect(group.children.count == count + 1)
      #expect(told.value == count + 1)
      #expect(group.children.allSatisfy { $0.isFinished })
    }
  }

  @Test("G2, F3: no child is lost of a group that is cancelled while it is being made")
  func cancelledWhileBeingMade() async {
    for round in 0..<Rounds.few {
      let queue = ProcedureQueue()
      let group = Deciding(children([30, 300, 3_000][round % 3])) { $0.cancel() }
      queue.add(group)
      await queue.waitUntilAllFinished()
      #expect(group.children.allSatisfy { $0.isFinished })
    }
  }

  @Test("G1: a group is made of an array, with a label or without, of any class")
  func arrays() {
    let children = (0..<3).map { TracedProcedure("\($0)", trace: trace) }
    let procedures: [Procedure] = (3..<5).map { TracedProcedure("\($0)", trace: trace) }
    let lazy = (5..<7).lazy.map { [trace] in TracedProcedure("\($0)", trace: trace) }
    let groups = [
      GroupProcedure(children), GroupProcedure(name: "named", procedures),
      GroupProcedure(children: lazy), GroupProcedure([]),
    ]
    #expect(groups.map(\.children.count) == [3, 2, 2, 0])
    makeQueue().add(groups)
    scheduler.run()
    #expect(groups.allSatisfy { $0.outcome == .succeeded })
    #expect(trace.events.count { $0.hasSuffix("execute") } == 7)
  }

  @Test("G9: isSuspended holds children back; a cancelled suspended group finishes")
  func suspended() {
    let child = TracedProcedure("child", trace: trace)
    let group = GroupProcedure(child)
    group.isSuspended = true
    let other = GroupProcedure(TracedProcedure("other", trace: trace))
    other.isSuspended = true
    makeQueue().add(group, other)
    scheduler.run()
    #expect(group.isExecuting && child.isPending)
    group.isSuspended = false
    other.cancel()
    scheduler.run()
    #expect(group.outcome == .succeeded)
    #expect(other.outcome == .cancelled([]))
    #expect(!trace.events.contains("other execute"))
  }

  @Test("G9: maxConcurrentChildCount 1 runs children strictly one at a time, in order of adding")
  func serialChildren() async {
    let (running, order) = (Counter(), Recorder<Int>())
    let group = GroupProcedure(
      children: (0..<200).map { index in
        BlockProcedure {
          running.increment()
          order.note(index)
          running.decrement()
        }
      })
    group.maxConcurrentChildCount = 1
    _ = await ProcedureQueue().run(group)
    #expect(running.highest == 1)
    #expect(order.events == Array(0..<200))
  }

  @Test("G10: a group holds one slot of its queue; its children take none")
  func slots() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let children = (0..<3).map { TracedProcedure("\($0)", end: .whenTold) }
    let next = TracedProcedure("next", trace: trace)
    queue.add(GroupProcedure(children: children), next)
    scheduler.run()
    #expect(children.allSatisfy { $0.isExecuting } && next.isPending)
    for child in children { child.finish() }
    scheduler.run()
    #expect(next.isFinished)
  }

  @Test("a child that executes, however soon, finds itself among the group's children")
  func findsItself() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let seen = Recorder<Bool>()
      let group = GroupProcedure(DelayProcedure(by: .microseconds(20)))
      group.addWillExecuteBlockObserver { group, _ in
        group.add(
          child: BlockProcedure { [weak group] procedure in
            seen.note(group?.children.contains(procedure) ?? false)
          })
      }
      _ = await queue.run(group)
      #expect(seen.events == [true])
    }
  }

  @Test("G11: finish() on a group is refused, and reported to the queue")
  func finishIsRefused() {
    let diagnostics = Recorder<String>()
    let queue = makeQueue()
    queue.diagnosticsHandler = { diagnostics.note($0.description) }
    let child = TracedProcedure(end: .whenTold)
    let group = GroupProcedure(child)
    group.name = "album"
    queue.add(group)
    scheduler.run()
    #expect(!group.finish())
    #expect(
      diagnostics.events == [
        "finish() on 'album' was refused: "
          + "a group finishes when its children have; cancel it to end it early."
      ])
    child.finish()
    scheduler.run()
    #expect(group.outcome == .succeeded)
  }

  @Test("add observers of a group are called for each child, which starts after they returned")
  func addObservers() {
    let group = GroupProcedure(TracedProcedure("before", trace: trace))
    group.name = "group"
    let child = TracedProcedure("child", trace: trace)
    group.addWillAddProcedureBlockObserver { [trace] _, added in trace.note("will \(added.name)") }
    group.addDidAddProcedureBlockObserver { [trace] _, added in trace.note("did \(added.name)") }
    group.add(child: child)
    makeQueue().add(group)
    scheduler.run()
    let relevant = trace.events.filter { !$0.hasSuffix("Finish") }
    #expect(relevant.firstIndex(of: "will child")! < relevant.firstIndex(of: "child execute")!)
    #expect(relevant.filter { $0.hasSuffix("d child") || $0.hasSuffix("l child") }.count == 2)
    #expect(group.isFinished)
  }

  @Test("a group that is released without having run releases its children, or ends those in use")
  func releasedWithoutRunning() async {
    let kept = TracedProcedure("kept")
    final class Dropped: Procedure, @unchecked Sendable {
      let released: Counter
      init(_ released: Counter) { self.released = released }
      deinit { released.increment() }
    }
    let released = Counter()
    do {
      let group = GroupProcedure(kept, GroupProcedure(Dropped(released)))
      #expect(group.children.count == 2)
    }
    #expect(released.value == 1)
    #expect(
      await kept.waitUntilFinished().deep == .cancelled([.error(ProcedureError(.parentCancelled))]))
  }

  @Test(
    "C7, G1: a cancelled procedure that is added to a group on no queue ends as a child of that")
  func cancelledBeforeItsGroupIsEnqueued() {
    let surroundings = DetachedSurroundings(scheduler: scheduler, clock: .continuous)
    surroundings.replacingDispatch {
      let (first, second) = (TracedProcedure("first"), TracedProcedure("second"))
      // Its turn is on its way to a worker of no queue when it becomes a child.
      second.cancel()
      let group = GroupProcedure(first, second)
      scheduler.run()
      #expect(second.isFinished && !first.isFinished)
      makeQueue().add(group)
      scheduler.run()
      #expect(first.outcome == .succeeded)
      #expect(group.outcome == .succeeded)
    }
  }

  @Test(
    "G3, G5: a subtree that is added to a cancelled group reads cancelled before any delivery")
  func subtreeAddedToCancelled() {
    let (leaf, sibling) = (TracedProcedure("leaf"), TracedProcedure("sibling"))
    let middle = GroupProcedure(leaf)
    let inner = GroupProcedure(middle, sibling)
    let told = Recorder<[Bool]>()
    for procedure in [inner, middle, leaf, sibling] as [Procedure] {
      procedure.cancellationToken.onCancel {
        told.note([inner, middle, leaf, sibling].map(\.isCancelled))
      }
    }
    let group = GroupProcedure()
    makeQueue().add(group)
    group.cancel()
    group.add(child: inner)
    #expect(told.events == Array(repeating: [true, true, true, true], count: 4))
    scheduler.run()
    #expect([inner, middle, leaf, sibling].allSatisfy { $0.isFinished })
    #expect(leaf.trace.events.contains("leaf execute") == false)
  }

  /// Something happens while the group hears a child.
  private final class Hearing: GroupProcedure, @unchecked Sendable {
    let whileHearing: @Sendable () -> Void

    init(_ child: Procedure, _ whileHearing: @escaping @Sendable () -> Void) {
      self.whileHearing = whileHearing
      super.init(children: [child])
    }

    override func child(
      _ child: Procedure, willFinishWithErrors errors: [any Error]
    ) -> [any Error] {
      whileHearing()
      return errors
    }
  }

  /// ```
  /// worker of the children          worker of the queue
  /// child finishes, cancelled
  ///   the group hears it
  ///                                 the group's conditions are due: its turn is held, and so noted
  ///   evaluates the conditions
  /// ready, and the queue is told
  /// ```
  @Test(
    "D1, G7: a group goes on after its conditions though it decides about a cancelled child meanwhile"
  )
  func conditionsWhileHearing() {
    let child = TracedProcedure("child")
    let group = Hearing(child) { [scheduler] in scheduler.runOne() }
    group.add(condition: BlockCondition { true })
    let queue = makeQueue()
    queue.isSuspended = true
    queue.add(group)
    scheduler.run()
    child.cancel()
    queue.isSuspended = false
    scheduler.run()
    #expect(group.outcome == .succeeded)
  }
}
