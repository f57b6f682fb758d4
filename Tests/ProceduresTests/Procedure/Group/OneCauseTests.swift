import Procedures
import ProcedureTestSupport
import Testing

/// One cause is one error of the group, however many of its children end because of it.
@Suite(.hangLimit) struct OneCauseTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private func failing(_ name: String) -> ResultProcedure<Int> {
    ResultProcedure(name: name) { throw TestError(name) }
  }

  private func step(_ name: String) -> IdentityProcedure<Int> {
    IdentityProcedure<Int>().named(name)
  }

  /// How the members of a chain need each other.
  private enum Link: CaseIterable {
    case injected, required, notCancelled, condition, either

    func link(_ source: Procedure, _ target: IdentityProcedure<Int>) {
      switch self {
      case .injected:
        if let source = source as? any OutputProcedure<Int> { target.injectResult(from: source) }
      case .required: target.add(dependency: source, requiring: .success)
      case .notCancelled: target.add(dependency: source, requiring: .notCancelled)
      case .condition:
        target.add(dependency: source)
        target.add(condition: NoFailedDependencies())
      case .either:
        target.add(dependency: source)
        target.add(condition: NoFailedDependencies() || NoFailedDependencies())
      }
    }
  }

  @Test("E3: a chain of four in a group whose first fails is one error, however they are linked")
  func chain() {
    for link in Link.allCases {
      // A failed one is not cancelled: there the second runs, and fails for want of an input.
      let isFailure = link != .notCancelled
      for addsLate in [false, true] {
        let queue = makeQueue()
        let first = ResultProcedure<Int>(name: "0") { procedure in
          if isFailure { throw TestError("0") }
          procedure.cancel()
          return 1
        }
        let chain = (1...3).map { step("\($0)") }
        let blocker = TracedProcedure("blocker", end: .whenTold)
        let group = GroupProcedure(children: [first, blocker])
        for (source, target) in zip([first] + chain, chain) { link.link(source, target) }
        if !addsLate { group.add(children: chain) }
        queue.add(group)
        scheduler.run()
        if addsLate { group.add(children: chain) }
        scheduler.run()
        blocker.finish()
        scheduler.run()
        #expect(chain.allSatisfy { $0.isCancelled && $0.failed }, "\(link)")
        let expected: DeepOutcome =
          isFailure ? .failed([.child("0", TestError("0"))]) : .succeeded
        #expect(group.outcome?.deep == expected, "\(link) \(addsLate)")
      }
    }
  }

  @Test("E3: one cause is one error across nested groups, also for children that are added late")
  func nested() {
    for addsLate in [false, true] {
      for isSourceDeep in [false, true] {
        let queue = makeQueue()
        let (source, target) = (failing("source"), step("target"))
        target.injectResult(from: source)
        let after = step("after").injectResult(from: target)
        let blocker = TracedProcedure("blocker", end: .whenTold)
        let inner = GroupProcedure(GroupProcedure(isSourceDeep ? source : target), blocker)
        let outer = GroupProcedure(inner, after)
        if !addsLate || !isSourceDeep { outer.add(child: isSourceDeep ? target : source) }
        queue.add(outer)
        scheduler.run()
        if addsLate, isSourceDeep { outer.add(child: target) }
        scheduler.run()
        blocker.finish()
        scheduler.run()
        #expect(
          outer.outcome?.deep == .failed([.child("source", TestError("source"))]), "\(addsLate)")
        #expect(target.isCancelled && after.isCancelled)
        // The inner group has no part of the cause, if that is outside of it.
        let error = TestError("source")
        let ownError: DeepError =
          isSourceDeep
          ? .child("source", error) : .child("target", .dependencyFailed("source", error))
        #expect(inner.outcome?.deep == .failed([ownError]))
      }
    }
  }

  @Test("E3: a child whose dependency outside of the group failed is reported, and the chain once")
  func outside() {
    let queue = makeQueue()
    let source = failing("source")
    let first = step("first").injectResult(from: source)
    let second = step("second").injectResult(from: first)
    let group = GroupProcedure(first, second)
    queue.add(source, group)
    scheduler.run()
    #expect(
      group.outcome?.deep
        == .failed([.child("first", .dependencyFailed("source", TestError("source")))]))
    // It is cancelled at once, on no queue yet.
    DetachedSurroundings(scheduler: scheduler, clock: .continuous).replacingDispatch {
      let late = step("late").injectResult(from: source)
      let other = GroupProcedure(late)
      queue.add(other)
      scheduler.run()
      #expect(other.failed)
    }
  }

  @Test("E3: a procedure without an output is the cause, and its consequences are not reported")
  func noOutput() {
    let queue = makeQueue()
    let source = IdentityProcedure<Int>().named("source")
    source.addWillExecuteBlockObserver { source, _ in source.input = nil }
    let empty = Silent().named("empty")
    let (first, second) = (step("first"), step("second"))
    first.injectResult(from: empty)
    second.injectResult(from: first)
    let group = GroupProcedure(empty, first, second)
    queue.add(group)
    scheduler.run()
    #expect(
      group.errors.deep == [
        .child("first", ProcedureError(.requirementNotSatisfied, procedure: "empty"))
      ])
  }

  /// Finishes without an output.
  private final class Silent: Procedure, OutputProcedure, @unchecked Sendable {
    typealias Output = Int
    override func execute() { finish() }
  }

  @Test("E3: a child that ignored its errors reports none, and its missing value once")
  func ignored() {
    let queue = makeQueue()
    let source = IgnoreErrorsProcedure(failing("source")).named("ignoring")
    let first = step("first").injectResult(from: source)
    let second = step("second").injectResult(from: first)
    let group = GroupProcedure(source, first, second)
    queue.add(group)
    scheduler.run()
    #expect(
      group.outcome?.deep
        == .failed([.child("first", .dependencyFailed("ignoring", TestError("source")))]))
  }

  @Test(
    "E3: a child that ended because of a group, or by its policy, is not reported, however deep")
  func ofGroups() {
    let queue = makeQueue()
    let (deep, waiting) = (TracedProcedure("deep", end: .whenToldOrCancelled), step("waiting"))
    waiting.add(dependency: deep, requiring: .success)
    let inner = GroupProcedure(deep).named("inner")
    let outer = GroupProcedure(inner, waiting)
    queue.add(outer)
    scheduler.run()
    inner.cancel(withError: TestError("stop"))
    scheduler.run()
    #expect(outer.outcome?.deep == .failed([.child("inner", TestError("stop"))]))
    #expect(inner.outcome == .cancelled([TestError("stop")]))
    let bad = failing("bad")
    let policy = GroupProcedure(
      bad, GroupProcedure(GroupProcedure(TracedProcedure(end: .whenToldOrCancelled))),
      step("follows").injectResult(from: bad))
    policy.failurePolicy = .cancelRemaining
    let around = GroupProcedure(policy)
    queue.add(around)
    scheduler.run()
    #expect(around.outcome?.deep == .failed([.child("bad", TestError("bad"))]))
  }

  @Test("E3: a wait that never ends is one error of the group, and of the groups around it")
  func cycle() async {
    let queue = ProcedureQueue()
    let (first, second, third) = (step("1"), step("2"), step("3"))
    first.add(dependency: second)
    second.add(dependency: third)
    third.add(dependency: first)
    let inner = GroupProcedure(first)
    let outer = GroupProcedure(inner, second, third)
    _ = await queue.run(outer)
    #expect(outer.errors.count == 1, "\(outer.errors)")
    let error = (outer.errors.first as? ProcedureError)?.underlyingErrors.first as? ProcedureError
    #expect(error?.code == .dependencyCycle && error?.cycle.count == 3)
  }

  @Test("E3: a cycle with the group itself is one error of it")
  func cycleOfTheGroup() async {
    let queue = ProcedureQueue()
    let (child, group) = (step("child"), GroupProcedure(name: "group", []))
    group.add(child: child)
    child.add(dependency: group)
    let outer = GroupProcedure(group)
    _ = await queue.run(outer)
    #expect(
      group.errors.map { ($0 as? ProcedureError)?.code } == [.dependencyCycle], "\(group.errors)")
    #expect(outer.errors.count == 1, "\(outer.errors)")
  }

  @Test("E3: a refused child is no error of the group, and its dependents report their own")
  func refused() {
    let queue = makeQueue()
    let group = GroupProcedure(BlockProcedure {}).named("closed")
    queue.add(group)
    scheduler.run()
    let late = step("late")
    group.add(child: late)
    let other = GroupProcedure(step("needs").injectResult(from: late))
    queue.add(other)
    scheduler.run()
    #expect(group.errors.isEmpty && other.errors.count == 1)
  }

  @Test("E3: each child that fails by itself is reported")
  func several() {
    let queue = makeQueue()
    let (a, b) = (failing("a"), failing("b"))
    let needsBoth = step("both").injectResult(from: a).injectResult(from: b)
    let group = GroupProcedure(a, b, needsBoth)
    queue.add(group)
    scheduler.run()
    #expect(
      group.outcome?.deep == .failed([.child("a", TestError("a")), .child("b", TestError("b"))]))
  }

  @Test("E3: the hook receives consequences, too, and its own errors are taken over")
  func heard() {
    let queue = makeQueue()
    let bad = failing("bad")
    let heard = Recorder<String>()
    let group = GroupProcedure(bad, step("follows").injectResult(from: bad))
    group.recover { _, child, errors in
      heard.note("\(child.name) \(errors.count)")
      return child.name == "bad" ? [] : errors + [TestError("own")]
    }
    queue.add(group)
    scheduler.run()
    #expect(heard.events == ["bad 1", "follows 1"])
    #expect(group.outcome?.deep == .failed([.child("follows", TestError("own"))]))
  }

  @Test("E3: a cause is found that ended before its group was added to the other")
  func putTogetherLate() {
    let queue = makeQueue()
    let surroundings = DetachedSurroundings(scheduler: scheduler, clock: .continuous)
    surroundings.replacingDispatch {
      let source = step("source")
      let inner = GroupProcedure(source)
      let target = step("target")
      target.add(dependency: source, requiring: .success)
      let outer = GroupProcedure(target)
      source.cancel(withError: TestError("stop"))
      scheduler.run()
      #expect(source.isFinished && target.isFinished)
      outer.add(child: inner)
      queue.add(outer)
      scheduler.run()
      #expect(outer.outcome?.deep == .failed([.child("source", TestError("stop"))]))
    }
  }

  @Test("E3: an observer that comes after the end of the cause changes nothing")
  func lateObserver() {
    let queue = makeQueue()
    let source = failing("source")
    let blocker = TracedProcedure("blocker", end: .whenTold)
    let group = GroupProcedure(source, blocker)
    queue.add(group)
    scheduler.run()
    source.addDidFinishBlockObserver { _, _ in }
    scheduler.run()
    group.add(child: step("late").injectResult(from: source))
    scheduler.run()
    blocker.finish()
    scheduler.run()
    #expect(group.outcome?.deep == .failed([.child("source", TestError("source"))]))
  }

  @Test("E3: one cause of 5,000 failures, nested 1,000 deep, is found in linear time")
  func wide() {
    let queue = makeQueue()
    let source = failing("source")
    let all = (0..<5_000).map { step("\($0)").injectResult(from: source) }
    var group = GroupProcedure(children: [source] + all)
    for _ in 0..<1_000 { group = GroupProcedure(group) }
    queue.add(group)
    scheduler.run()
    #expect(group.errors.count == 1)
  }

  @Test(
    "E3: a cancelled sibling is the cause of what needs it, whatever else it had",
    arguments: [false, true])
  func cancelledSibling(isNamed: Bool) {
    let queue = makeQueue()
    let cancelled = BlockProcedure {}
    if isNamed { cancelled.name = "cancelled" }
    let blocker = TracedProcedure("blocker", end: .whenTold)
    let group = GroupProcedure(cancelled, blocker)
    // Of a child in a group on no queue, a turn runs where those of procedures on no queue do.
    DetachedSurroundings(scheduler: scheduler, clock: .continuous).replacingDispatch {
      cancelled.cancel()
    }
    queue.add(group)
    scheduler.run()
    let dependent = BlockProcedure {}
    dependent.add(dependency: cancelled, requiring: .success)
    group.add(child: dependent)
    scheduler.run()
    blocker.finish()
    scheduler.run()
    #expect(cancelled.isFinished && dependent.isCancelled)
    #expect(group.outcome == .succeeded)
  }
}
