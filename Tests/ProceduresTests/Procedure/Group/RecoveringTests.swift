import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct RecoveringTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private func failing(_ name: String) -> ResultProcedure<Int> {
    ResultProcedure(name: name) { throw TestError(name) }
  }

  private final class Hearing: GroupProcedure, @unchecked Sendable {
    let heard = Recorder<String>()

    override func child(
      _ child: Procedure, willFinishWithErrors errors: [any Error]
    ) -> [any Error] {
      heard.note("override \(errors)")
      return errors.isEmpty ? [] : [TestError("override")]
    }
  }

  @Test("G7: a closure decides about the errors of every child, given to init or later")
  func decides() {
    let queue = makeQueue()
    let heard = Recorder<String>()
    let bad = failing("bad")
    let group = GroupProcedure(bad, BlockProcedure(name: "fine") {})
    group.recover { group, child, errors in
      #expect(!child.isFinished)
      heard.note("\(child.name) \(errors)")
      guard child === bad else { return errors }
      group.add(child: BlockProcedure(name: "spare") {})
      return []
    }
    group.add(child: failing("later"))
    queue.add(group)
    scheduler.run()
    #expect(Set(heard.events) == ["bad [bad]", "fine []", "spare []", "later [later]"])
    #expect(group.outcome?.deep == .failed([.child("later", TestError("later"))]))
  }

  @Test("O3, G7: a group is asked when the child's willFinish event is released, and not before")
  func held() {
    let queue = makeQueue()
    let (asked, pending) = (Recorder<String>(), Slot<PendingEvent>())
    let bad = failing("bad")
    bad.addWillFinishBlockObserver { _, _, event in pending.value = event }
    let group = GroupProcedure(bad)
    group.recover { _, child, errors in
      asked.note(child.name)
      return errors
    }
    queue.add(group)
    scheduler.run()
    #expect(asked.events.isEmpty && !bad.isFinished)
    pending.take()?.release()
    scheduler.run()
    #expect(asked.events == ["bad"] && group.isFinished)
  }

  @Test(
    "G7: the override decides first, then each closure about the errors that the one before left")
  func order() {
    let queue = makeQueue()
    let group = Hearing(children: [failing("bad")])
    let same: Hearing = group.recover { group, _, errors in
      group.heard.note("first \(errors)")
      return errors + [TestError("first")]
    }
    same.recover { group, _, errors in
      group.heard.note("second \(errors)")
      return errors
    }
    queue.add(group)
    scheduler.run()
    #expect(
      group.heard.events == ["override [bad]", "first [override]", "second [override, first]"])
    #expect(
      group.outcome?.deep
        == .failed([.child("bad", TestError("override")), .child("bad", TestError("first"))]))
  }

  @Test("T1: the closure runs in the group's turn, apart from its overrides and observers")
  func turns() async {
    let inside = Counter()
    @Sendable func enter() {
      inside.increment()
      inside.decrement()
    }
    let group = GroupProcedure(children: (0..<500).map { _ in BlockProcedure {} })
    group.recover { _, _, errors in
      enter()
      return errors
    }
    group.addDidCancelBlockObserver { _, _ in enter() }
    group.children[250].addDidFinishBlockObserver { [weak group] _, _ in group?.cancel() }
    _ = await ProcedureQueue().run(group)
    #expect(inside.highest == 1)
  }

  @Test("G7: dependents wait for a substitute, and get its value")
  func substitute() {
    for isOrderOnly in [true, false] {
      let queue = makeQueue()
      let trace = Recorder<String>()
      let bad = failing("bad")
      let after = TransformProcedure<Int, Int>(name: "after") { value in
        trace.note("after \(value)")
        return value
      }
      if isOrderOnly {
        after.input = 1
        after.add(dependency: bad)
      } else {
        after.injectResult(from: bad)
      }
      let group = GroupProcedure(bad, after)
      group.recover { group, child, errors in
        guard child === bad, !errors.isEmpty else { return errors }
        let spare = ResultProcedure(name: "spare") {
          trace.note("spare")
          return 2
        }
        if !isOrderOnly { after.remove(dependency: bad) }
        after.injectResult(from: spare)
        group.add(child: spare)
        return []
      }
      queue.add(group)
      scheduler.run()
      #expect(trace.events == ["spare", "after 2"])
      #expect(group.outcome == .succeeded)
    }
  }

  @Test(
    "G7: a closure that is given to a running group decides about children that have not begun to finish"
  )
  func late() {
    let queue = makeQueue()
    let (first, second) = (
      TracedProcedure("1", end: .whenTold), TracedProcedure("2", end: .whenTold)
    )
    let group = GroupProcedure(first, second)
    queue.add(group)
    scheduler.run()
    first.finish(withError: TestError("first"))
    scheduler.run()
    group.recover { _, _, _ in [] }
    second.finish(withError: TestError("second"))
    scheduler.run()
    #expect(group.outcome?.deep == .failed([.child("1", TestError("first"))]))
  }

  /// ```
  /// thread 1                 thread 2
  /// child.finish             group.recover
  ///   about to finish          the closure is kept
  ///   heard: which closures?
  ///   errors taken over
  /// ```
  @Test(
    "G7: each child's errors are taken over, or dealt with, by a closure that is added while children finish"
  )
  func lateAgainstFinish() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let dealtWith = Counter()
      let children = (0..<8).map { TracedProcedure("\($0)", end: .whenTold) }
      let executing = Gate()
      let starts = Counter()
      for child in children {
        child.addDidExecuteBlockObserver { _ in if starts.increment() == 8 { executing.open() } }
      }
      let group = GroupProcedure(children: children)
      queue.add(group)
      await executing.wait()
      await race(
        { for child in children { child.finish(withError: TestError("e")) } },
        {
          group.recover { _, _, errors in
            dealtWith.increment()
            return []
          }
        })
      _ = await group.waitUntilFinished()
      #expect(group.errors.count + dealtWith.value == 8)
    }
  }

  @Test("F4: the closures are released when the group has finished, run or not, and keep nothing")
  func memory() {
    let released = Counter()
    weak var dropped: GroupProcedure?
    let queue = makeQueue()
    func make() -> GroupProcedure {
      let tracker = Tracker { released.increment() }
      return GroupProcedure(failing("bad")).recover { _, _, errors in
        withExtendedLifetime(tracker) {}
        return errors
      }
    }
    let (ran, cancelled) = (make(), make())
    queue.add(ran, cancelled)
    cancelled.cancel()
    scheduler.run()
    #expect(released.value == 2)
    do { dropped = make() }
    #expect(released.value == 3 && dropped == nil)
    let tracker = Tracker { released.increment() }
    ran.recover { _, _, errors in
      withExtendedLifetime(tracker) {}
      return errors
    }
    withExtendedLifetime((ran, cancelled)) {}
  }

  @Test("G7, Z4: a retry asks its closures too: a failure that is dealt with ends it")
  func retry() {
    let queue = makeQueue()
    let made = Counter()
    let retry = RetryProcedure(max: 5) {
      let number = made.increment()
      return BlockProcedure { throw TestError("\(number)") }
    }
    retry.recover { retry, _, errors in retry.count == 3 ? [] : errors }
    queue.add(retry)
    scheduler.run()
    #expect(retry.outcome == .succeeded)
    #expect(retry.count == 3)
  }

  @Test(
    "G7: no closure decides about children that the group ended itself, so that substitutes end")
  func endedByGroup() {
    for policy in [FailurePolicy.keepGoing, .cancelRemaining] {
      let queue = makeQueue()
      let (waits, bad) = (TracedProcedure("waits", end: .whenToldOrCancelled), failing("bad"))
      let heard = Recorder<String>()
      let group = GroupProcedure(children: policy == .keepGoing ? [waits] : [waits, bad])
      group.failurePolicy = policy
      group.recover { group, child, errors in
        heard.note("\(child.name) \(errors)")
        guard !errors.isEmpty, child !== bad else { return errors }
        group.add(child: BlockProcedure(name: "spare") {})
        return []
      }
      queue.add(group)
      scheduler.run()
      if policy == .keepGoing {
        group.cancel(withError: TestError("too late"))
        group.add(child: BlockProcedure(name: "added") {})
      }
      scheduler.run()
      #expect(group.isFinished && waits.isCancelled && waits.failed)
      #expect(heard.events.contains("waits []") && !heard.events.contains { $0.hasPrefix("spare") })
      #expect(
        group.errors.deep
          == [
            policy == .keepGoing ? .error(TestError("too late")) : .child("bad", TestError("bad"))
          ])
    }
  }
}
