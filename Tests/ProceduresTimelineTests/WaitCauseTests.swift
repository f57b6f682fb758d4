import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// A condition that answers after some virtual time.
private struct Slow: Condition {
  let clock: any Clock<Duration>
  let seconds: Int
  var name = "slow answer"

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await clock.sleep(for: .seconds(seconds))
    return .satisfied
  }
}

@Suite(.hangLimit) struct WaitCauseTests {
  @Test("V1: a wait for dependencies goes to the one that ended last, by name")
  func dependency() throws {
    let scenario = Scenario()
    let (short, long, last) = (lasting(2, "short"), lasting(5, "long"), lasting(1, "last"))
    last.add(dependencies: long, short)
    scenario.queue.add(short, long, last)
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "last") == ["dependency 5.0 (long)"])
    #expect(snapshot.waits(of: "short").isEmpty)
    let ids = ["short", "long"].map { snapshot.entry(named: $0)?.id }
    #expect(snapshot.entry(named: "last")?.dependencies == ids.compactMap(\.self))
  }

  @Test("V1: a dependency that had finished before is an edge, and no wait")
  func earlierDependency() throws {
    let scenario = Scenario()
    let (first, second) = (lasting(2, "first"), lasting(1, "second"))
    second.add(dependency: first)
    scenario.queue.add(first)
    scenario.at(3) { [queue = scenario.queue] in queue.add(second) }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "second").isEmpty)
    #expect(snapshot.entry(named: "second")?.dependencies == [1])
  }

  @Test("V1: a wait for a slot is recorded")
  func slot() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.add(lasting(3, "first"), lasting(2, "second"), lasting(1, "third"))
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "first").isEmpty)
    #expect(snapshot.waits(of: "second") == ["slot 3.0"])
    #expect(snapshot.waits(of: "third") == ["slot 5.0"])
  }

  @Test("V1: a wait for the queue's resume, and then for a slot, is recorded")
  func suspension() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.isSuspended = true
    scenario.queue.add(lasting(3, "first"), lasting(1, "second"))
    scenario.at(4) { [queue = scenario.queue] in queue.isSuspended = false }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "first") == ["suspension 4.0"])
    #expect(snapshot.waits(of: "second") == ["suspension 4.0", "slot 3.0"])
  }

  @Test("V1: a wait for a condition is recorded by name, after that for the dependency")
  func condition() throws {
    let scenario = Scenario()
    let (first, second) = (lasting(2, "first"), lasting(1, "second"))
    second.add(dependency: first)
    second.add(condition: Slow(clock: scenario.queue.clock, seconds: 3))
    scenario.queue.add(first, second)
    let snapshot = try scenario.run()
    #expect(
      snapshot.waits(of: "second") == ["dependency 2.0 (first)", "condition 3.0 (slow answer)"])
  }

  @Test("V1: a wait for an exclusion counts for its last holder, with the category")
  func exclusion() throws {
    let scenario = Scenario()
    let domain = ExclusionDomain(name: "timeline")
    let disk = ExclusionCategory(named: "disk", in: domain)
    let all = [lasting(4, "first"), lasting(2, "second"), lasting(1, "third")]
    for procedure in all { procedure.add(condition: AtMost(1, of: disk)) }
    scenario.queue.add(all)
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "first").isEmpty)
    #expect(snapshot.waits(of: "second") == ["exclusion 4.0 (first)"])
    #expect(snapshot.waits(of: "third") == ["exclusion 6.0 (second)"])
    #expect(snapshot.entry(named: "third")?.waits.first?.category == "disk")
  }

  @Test("V1: a wait for two categories counts for the one that was free last, and for its holder")
  func twoExclusions() throws {
    let scenario = Scenario()
    let domain = ExclusionDomain(name: "timeline")
    let (disk, mail) = (
      ExclusionCategory(named: "disk", in: domain), ExclusionCategory(named: "mail", in: domain)
    )
    let (short, long) = (lasting(1, "short"), lasting(5, "long"))
    short.add(condition: AtMost(1, of: disk))
    long.add(condition: AtMost(1, of: mail))
    let all = [lasting(1, "both"), lasting(9, "cancelled")]
    for procedure in all {
      procedure.add(condition: AtMost(1, of: disk))
      procedure.add(condition: AtMost(1, of: mail))
    }
    scenario.queue.add(short, long)
    scenario.queue.add(all)
    let seen = Slot<ProcedureTimeline.Snapshot>()
    scenario.at(3) { [timeline = scenario.timeline] in
      seen.value = timeline.snapshot()
      all[1].cancel()
    }
    let snapshot = try scenario.run()
    for (name, seconds) in [("both", 3), ("cancelled", 3)] {
      let wait = try #require(seen.value?.entry(named: name)?.waits.last)
      #expect(wait.category == "mail" && wait.duration == .seconds(seconds))
    }
    #expect(seen.value?.waits(of: "both") == ["exclusion 3.0 (long)"])
    #expect(snapshot.waits(of: "both") == ["exclusion 5.0 (long)"])
    #expect(snapshot.entry(named: "both")?.waits.map(\.category) == ["mail"])
    #expect(snapshot.entry(named: "cancelled")?.waits.map(\.category) == ["mail"])
    #expect(snapshot.verdict.contains("'mail'"), "\(snapshot.verdict)")
  }

  @Test("V1: a dependency that is taken back was waited for until then, by name")
  func takenBack() throws {
    let scenario = Scenario()
    let other = scenario.simulation.makeQueue(name: "other")
    let (long, far) = (lasting(6, "long"), lasting(6, "far"))
    let (next, second) = (lasting(1, "next"), lasting(1, "second"))
    let last = lasting(1, "last")
    next.add(dependency: long)
    second.add(dependency: far)
    last.add(dependencies: long, far)
    other.add(far)
    scenario.queue.add(long, next, second, last)
    scenario.at(3) {
      next.remove(dependency: long)
      second.remove(dependency: far)
      last.remove(dependency: far)
    }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "next") == ["dependency 3.0 (long)"])
    #expect(snapshot.waits(of: "second") == ["dependency 3.0 (far)"])
    #expect(snapshot.waits(of: "last") == ["dependency 6.0 (long)"])
    #expect(snapshot.entry(named: "next")?.dependencies == [])
    for entry in snapshot.entries { #expect(entry.faults == []) }
  }

  @Test("V1: a wait for a place, or for a start, is recorded with how many there are")
  func countsAndRates() throws {
    let scenario = Scenario()
    let domain = ExclusionDomain(name: "timeline")
    let disk = ExclusionCategory(named: "disk", in: domain)
    let mail = ExclusionCategory(named: "mail", in: domain)
    for number in 1...3 {
      let (store, send) = (lasting(4, "store \(number)"), lasting(1, "send \(number)"))
      store.add(condition: AtMost(5, of: disk, taking: 2))
      send.add(condition: RateLimit(2, per: .seconds(3), of: mail))
      scenario.queue.add(store, send)
    }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "store 3") == ["exclusion 4.0 (store 1)"])
    #expect(snapshot.waits(of: "send 3") == ["rate 3.0"])
    let waits = ["store 3", "send 3"].compactMap { snapshot.entry(named: $0)?.waits.first }
    #expect(waits.map(\.category) == ["disk", "mail"])
    #expect(waits.map(\.limit) == [2, 2])
    #expect(waits.map(\.interval) == [nil, .seconds(3)])
    for text in [
      "exclusion 'disk' (2 at once), 1 procedure", "rate 'mail' (2 in 3 s), 1 procedure",
    ] {
      #expect(snapshot.summary.contains(text), "\(snapshot.summary)")
    }
  }

  @Test("V1: a wait for a category without a limit names no limit, and who was before it")
  func unlimitedCategory() throws {
    let scenario = Scenario()
    let index = ExclusionCategory(named: "index", in: ExclusionDomain(name: "unlimited"))
    let all = [lasting(2, "first"), lasting(3, "writer"), lasting(1, "second")]
    for (procedure, count) in zip(all, [Int.max, 1, Int.max]) {
      procedure.add(condition: AtMost(count, of: index))
    }
    scenario.queue.add(all)
    let snapshot = try scenario.run()
    let wait = try #require(snapshot.entry(named: "second")?.waits.first)
    #expect(wait.category == "index" && wait.limit == nil && wait.blocker == "writer")
    #expect(
      snapshot.summary.contains("5 s second: exclusion, 'index' behind 'writer'"),
      "\(snapshot.summary)")
  }

  @Test("V1: a delay is a wait after its start, but for what holds it back; cancelled, it ends")
  func delay() throws {
    let scenario = Scenario()
    let delay = DelayProcedure(name: "cool down", by: .seconds(5))
    delay.addWillFinishBlockObserver { _, _, pendingFinish in
      scenario.simulation.perform(after: .seconds(2)) { pendingFinish.release() }
    }
    let cancelled = DelayProcedure(name: "cancelled", by: .seconds(9))
    scenario.at(3) { cancelled.cancel() }
    scenario.queue.add(delay, cancelled)
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "cool down") == ["held event 2.0 (willFinish)", "delay 5.0"])
    #expect(snapshot.waits(of: "cancelled") == ["delay 3.0"])
    #expect(snapshot.entries.allSatisfy { $0.faults == [] && $0.waited == .zero })
    let texts = [snapshot.summary, snapshot.html(), snapshot.chromeTrace()]
    for text in texts + snapshot.otlpRequests(service: "test") { #expect(text.contains("delay")) }
    #expect(snapshot.summary.contains("  7 s cool down, a delay"))
  }

  @Test(
    "V1: one that waits for a dependency, and is cancelled or looked at, waits for nothing else")
  func unfinishedDependency() throws {
    let scenario = Scenario()
    let (first, second) = (lasting(5, "first"), lasting(1, "second"))
    let (child, next) = (lasting(9, "child"), lasting(1, "next"))
    second.add(dependency: first)
    next.add(dependency: child)
    scenario.queue.add(first, second, GroupProcedure(children: [child, next]))
    let seen = Slot<ProcedureTimeline.Snapshot>()
    scenario.at(2) { [timeline = scenario.timeline] in
      seen.value = timeline.snapshot()
      second.cancel()
      next.cancel()
    }
    let snapshot = try scenario.run()
    for (name, dependency) in [("second", "first"), ("next", "child")] {
      #expect(seen.value?.waits(of: name) == ["dependency 2.0 (\(dependency))"])
      #expect(snapshot.waits(of: name) == ["dependency 2.0 (\(dependency))"])
    }
  }

  @Test("V1: a dependent that its dependency's failure cancels has waited for that dependency")
  func failedDependency() throws {
    let scenario = Scenario()
    let clock = scenario.queue.clock
    let failing = AsyncResultProcedure<Int>(name: "failing") {
      try await clock.sleep(for: .seconds(3))
      throw TestError("failing")
    }
    let requiring = lasting(1, "requiring")
    requiring.add(dependency: failing, requiring: .success)
    let next = lasting(1, "next")
    next.add(dependency: requiring, requiring: .success)
    let injected = TransformProcedure<Int, Int>(name: "injected") { $0 }
    injected.injectResult(from: failing)
    let child = lasting(1, "child")
    child.add(dependency: failing, requiring: .success)
    let group = GroupProcedure(child, lasting(9, "other"))
    scenario.queue.add(requiring, next, injected, group, failing)
    let snapshot = try scenario.run()
    for name in ["requiring", "injected", "child"] {
      #expect(snapshot.waits(of: name) == ["dependency 3.0 (failing)"])
    }
    #expect(snapshot.waits(of: "next") == ["dependency 3.0 (requiring)"])
    #expect(!snapshot.waits.contains { $0.cause == .worker })
  }

  @Test("V1: a dependency that is not recorded keeps its name in the waits for it")
  func unrecordedDependency() throws {
    let scenario = Scenario()
    let other = scenario.simulation.makeQueue(name: "other")
    let far = lasting(5, "far")
    let (near, cancelled) = (lasting(1, "near"), lasting(1, "cancelled"))
    for procedure in [near, cancelled] { procedure.add(dependency: far) }
    other.add(far)
    scenario.queue.add(near, cancelled)
    scenario.at(2) { cancelled.cancel() }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "near") == ["dependency 5.0 (far)"])
    #expect(snapshot.waits(of: "cancelled") == ["dependency 2.0 (far)"])
    #expect(snapshot.verdict.contains("'far'"))
  }

  @Test("V1: a wait for a condition's prerequisite is a wait for it while it lasts, and afterwards")
  func prerequisite() throws {
    let scenario = Scenario()
    let second = lasting(1, "second")
    second.add(
      condition: BlockCondition { true }.withPrerequisites { _ in [lasting(4, "first")] })
    scenario.queue.add(GroupProcedure(second))
    let seen = Slot<ProcedureTimeline.Snapshot>()
    scenario.at(2) { [timeline = scenario.timeline] in seen.value = timeline.snapshot() }
    let snapshot = try scenario.run()
    #expect(seen.value?.waits(of: "second") == ["dependency 2.0 (first)"])
    #expect(snapshot.waits(of: "second") == ["dependency 4.0 (first)"])
  }

  @Test("V1: a child that waits while its group's start is held waits for that")
  func heldGroup() throws {
    let scenario = Scenario()
    let child = lasting(1, "child")
    let group = GroupProcedure(child).named("group")
    group.addWillExecuteBlockObserver { _, pendingExecute in
      scenario.simulation.perform(after: .seconds(3)) { pendingExecute.release() }
    }
    scenario.queue.add(group)
    let snapshot = try scenario.run()
    let wait = snapshot.entry(named: "child")?.waits.first
    #expect(wait?.cause == .group && wait?.duration == .seconds(3))
    #expect(wait?.groupCause == .heldEvent && wait?.blocker == "willExecute")
    #expect(snapshot.verdict.contains("75 % is held event 'willExecute' ('group')"))
  }

  @Test("V1: a procedure of another timeline is waited for, and is no entry of this one")
  func otherTimeline() throws {
    let scenario = Scenario()
    let other = scenario.simulation.makeQueue(name: "other")
    let otherTimeline = ProcedureTimeline()
    otherTimeline.record(other)
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "timeline"))
    // The first of each timeline has the same number.
    let (first, second) = (lasting(2, "first"), lasting(1, "second"))
    let (third, fourth) = (lasting(4, "third"), lasting(1, "fourth"))
    second.add(dependency: first)
    for procedure in [third, fourth] { procedure.add(condition: AtMost(1, of: disk)) }
    scenario.queue.add(second)
    other.add(first, third)
    scenario.at(1) { [queue = scenario.queue] in queue.add(fourth) }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "second") == ["dependency 2.0 (first)"])
    #expect(snapshot.waits(of: "fourth") == ["exclusion 3.0"])
    #expect(snapshot.entries.allSatisfy { $0.dependencies.isEmpty && $0.faults == [] })
    #expect(otherTimeline.snapshot().entries.count == 2)
  }

  @Test("V1: a wait for an exclusion and one for a slot have each their own part")
  func exclusionThenSlot() throws {
    let scenario = Scenario(limit: 2)
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "timeline"))
    let (holder, waiter) = (lasting(2, "holder"), lasting(1, "waiter"))
    holder.add(condition: AtMost(1, of: disk))
    waiter.add(condition: AtMost(1, of: disk))
    // The waiter steps aside at once, and what came behind it takes its slot. When the holder ends,
    // at 2, its slot is for one that is more urgent than the waiter.
    let urgent = lasting(4, "urgent")
    urgent.priority = .high
    scenario.queue.add(holder, waiter, lasting(10, "filler"))
    scenario.at(1) { [queue = scenario.queue] in queue.add(urgent) }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "waiter") == ["exclusion 2.0 (holder)", "slot 4.0"])
    #expect(snapshot.entry(named: "waiter")?.faults == [])
  }

  @Test("V1: a held event comes after the start")
  func heldEvent() throws {
    let scenario = Scenario()
    let procedure = lasting(1, "held")
    procedure.addWillExecuteBlockObserver { _, pendingExecute in
      scenario.simulation.perform(after: .seconds(3)) { pendingExecute.release() }
    }
    scenario.queue.add(procedure)
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "held") == ["held event 3.0 (willExecute)"])
    let entry = try #require(snapshot.entry(named: "held"))
    #expect(entry.started == entry.enqueued)
    #expect(entry.executing == entry.enqueued + .seconds(3))
    #expect(entry.finished == entry.enqueued + .seconds(4))
  }

  @Test("V1: children wait for their group to begin")
  func group() throws {
    let scenario = Scenario()
    let first = lasting(2, "first")
    let group = GroupProcedure(lasting(1, "child")).named("group")
    group.add(dependency: first)
    scenario.queue.add(first, group)
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "group") == ["dependency 2.0 (first)"])
    #expect(snapshot.waits(of: "child") == ["group 2.0 (first)"])
    #expect(snapshot.entry(named: "child")?.waits.first?.groupCause == .dependency)
    #expect(snapshot.entry(named: "child")?.parent == snapshot.entry(named: "group")?.id)
  }

  @Test("V1: a wait for a barrier is recorded")
  func barrier() throws {
    let scenario = Scenario()
    scenario.queue.add(lasting(2, "before"))
    scenario.queue.add(barrier: lasting(3, "barrier"))
    scenario.queue.add(lasting(1, "after"))
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "barrier") == ["barrier 2.0 (before)"])
    #expect(snapshot.waits(of: "after") == ["barrier 5.0 (barrier)"])
  }

  @Test(
    "V1: a barrier's wait goes to the last to finish of those before it")
  func barrierAmongOthers() throws {
    let scenario = Scenario()
    let cancelled = lasting(9, "cancelled")
    scenario.at(2) { cancelled.cancel() }
    scenario.queue.add(lasting(4, "long"), lasting(1, "short"), cancelled)
    scenario.queue.add(barrier: lasting(1, "first barrier"))
    scenario.queue.add(lasting(2, "behind"), lasting(9, "long behind"), lasting(3, "third"))
    scenario.queue.add(barrier: lasting(1, "second barrier"))
    scenario.queue.add(lasting(1, "last"))
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "first barrier") == ["barrier 4.0 (long)"])
    #expect(snapshot.waits(of: "behind") == ["barrier 5.0 (first barrier)"])
    #expect(snapshot.waits(of: "third") == ["barrier 5.0 (first barrier)"])
    #expect(snapshot.waits(of: "second barrier") == ["barrier 14.0 (long behind)"])
    #expect(snapshot.waits(of: "last") == ["barrier 15.0 (second barrier)"])
  }

  @Test("V1: each condition that is waited for has its own part, by name")
  func conditions() throws {
    let scenario = Scenario()
    let procedure = lasting(1, "asks")
    let clock = scenario.queue.clock
    procedure.add(condition: Slow(clock: clock, seconds: 5, name: "licence"))
    procedure.add(condition: Slow(clock: clock, seconds: 1, name: "disk space"))
    procedure.add(condition: Slow(clock: clock, seconds: 2, name: "licence"))
    scenario.queue.add(procedure)
    let snapshot = try scenario.run()
    #expect(
      snapshot.waits(of: "asks") == ["condition 7.0 (licence)", "condition 1.0 (disk space)"])
    #expect(snapshot.entry(named: "asks")?.faults == [])
    #expect(snapshot.waits.map(\.total) == [.seconds(8)])
  }

  @Test("V1: a held finish is told apart from a held start")
  func heldFinish() throws {
    let scenario = Scenario()
    let procedure = lasting(1, "held")
    procedure.addWillExecuteBlockObserver { _, pendingExecute in
      scenario.simulation.perform(after: .seconds(3)) { pendingExecute.release() }
    }
    procedure.addWillFinishBlockObserver { _, _, pendingFinish in
      scenario.simulation.perform(after: .seconds(2)) { pendingFinish.release() }
    }
    scenario.queue.add(procedure)
    let snapshot = try scenario.run()
    #expect(
      snapshot.waits(of: "held")
        == ["held event 3.0 (willExecute)", "held event 2.0 (willFinish)"])
    #expect(snapshot.waits.map(\.total) == [.seconds(5)])
  }

  @Test("V1: a dependency added to one that was ready, or excluded, is a wait of its own")
  func goesBack() throws {
    let scenario = Scenario(limit: 1)
    let (first, second) = (lasting(3, "first"), lasting(1, "second"))
    let late = lasting(4, "late")
    scenario.queue.add(first, second)
    let other = scenario.simulation.makeQueue(name: "other")
    other.add(late)
    scenario.at(1) { second.add(dependency: late) }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "second") == ["slot 1.0", "dependency 3.0 (late)"])
    #expect(snapshot.entry(named: "second")?.faults == [])
  }

  @Test("V1: a condition that answers at once hides no other cause", arguments: [false, true])
  func answeredCondition(isLast: Bool) throws {
    let scenario = Scenario()
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "timeline"))
    let (holder, waiter) = (lasting(3, "holder"), lasting(1, "waiter"))
    if !isLast { waiter.add(condition: BlockCondition { true }) }
    for procedure in [holder, waiter] { procedure.add(condition: AtMost(1, of: disk)) }
    if isLast { waiter.add(condition: BlockCondition { true }) }
    let suspended = lasting(1, "suspended")
    suspended.add(condition: BlockCondition { true })
    scenario.queue.add(holder, waiter)
    scenario.at(4) { [queue = scenario.queue] in
      queue.isSuspended = true
      queue.add(suspended)
    }
    scenario.at(14) { [queue = scenario.queue] in queue.isSuspended = false }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "waiter") == ["exclusion 3.0 (holder)"])
    #expect(snapshot.waits(of: "suspended") == ["suspension 10.0"])
    for entry in snapshot.entries { #expect(entry.faults == []) }
  }

  @Test("V1: waits come in the order in which they happened, and the path follows the last of them")
  func inOrder() throws {
    let scenario = Scenario(limit: 1)
    let other = scenario.simulation.makeQueue(name: "other")
    scenario.timeline.record(other)
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "timeline"))
    let (holder, waiter) = (lasting(14, "holder"), lasting(1, "waiter"))
    for procedure in [holder, waiter] { procedure.add(condition: AtMost(1, of: disk)) }
    other.add(holder)
    scenario.queue.add(lasting(10, "first"), waiter)
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "waiter") == ["slot 10.0", "exclusion 4.0 (holder)"])
    #expect(snapshot.criticalPath.map(\.entry.name) == ["holder", "waiter"])
    #expect(snapshot.entry(named: "waiter")?.faults == [])
  }

  @Test("V1: no wait for a barrier is recorded on a live queue without one")
  func noBarrier() async {
    let queue = ProcedureQueue()
    let timeline = ProcedureTimeline()
    timeline.record(queue)
    for _ in 0..<100 {
      queue.add(GroupProcedure(BlockProcedure {}, GroupProcedure(BlockProcedure {})))
    }
    await queue.waitUntilAllFinished()
    let entries = timeline.entries
    #expect(entries.count == 400)
    #expect(entries.flatMap(\.waits).filter { $0.cause == .barrier }.isEmpty)
    for entry in entries { #expect(entry.faults == []) }
  }

  @Test("V1: an entry that one timeline began is right when another one takes over")
  func takenOver() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.add(lasting(3, "first"), lasting(1, "second"))
    let later = ProcedureTimeline()
    scenario.at(1) { [queue = scenario.queue] in later.record(queue) }
    scenario.at(2) { [queue = scenario.queue] in queue.isSuspended = true }
    scenario.at(8) { [queue = scenario.queue] in queue.isSuspended = false }
    let snapshot = try scenario.run()
    #expect(snapshot.waits(of: "second") == ["slot 2.0", "suspension 6.0"])
  }
}
