import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// The critical path while procedures are unfinished, and of procedures that never start.
@Suite(.hangLimit) struct UnendingPathTests {
  private func shares(_ snapshot: ProcedureTimeline.Snapshot) -> [String] {
    snapshot.criticalPathShares.map { share in
      "\(share.kind) \(share.total / .seconds(1))" + (share.name.map { ", \($0)" } ?? "")
    }
  }

  private func path(_ snapshot: ProcedureTimeline.Snapshot) -> [String] {
    snapshot.criticalPath.map(\.entry.name)
  }

  enum Hang: CaseIterable {
    case dependency, suspension, exclusion, rate, slot, barrier, group

    var shares: [String] {
      switch self {
      case .dependency: ["dependency 9.0, other", "work 1.0"]
      case .suspension: ["suspension 9.0, queue 'queue'", "work 1.0"]
      case .exclusion: ["exclusion 9.0, disk", "work 1.0"]
      case .rate: ["rate 9.0, disk", "work 1.0"]
      // It counts from when 'other' waited for the slot of 'load'.
      case .slot: ["slot 10.0, queue 'queue' (limit 1)"]
      // It counts from when 'mail' waited for the barrier.
      case .barrier: ["barrier 10.0, other"]
      case .group: ["suspension 9.0, group 'group'", "work 1.0"]
      }
    }
  }

  /// The snapshot at ten seconds of a program in which 'load' takes one, and 'mail' then waits.
  private func snapshot(of hang: Hang) throws -> ProcedureTimeline.Snapshot {
    let scenario = Scenario(limit: hang == .slot ? 1 : .max)
    let (queue, timeline) = (scenario.queue, scenario.timeline)
    // The timeline does not record this queue.
    let elsewhere = scenario.simulation.makeQueue(name: "elsewhere")
    let domain = ExclusionDomain(name: "hang")
    let (load, mail, other) = (lasting(1, "load"), lasting(1, "mail"), lasting(100, "other"))
    let group = GroupProcedure(children: hang == .group ? [mail] : []).named("group")
    switch hang {
    case .dependency:
      mail.add(dependencies: load, other)
      elsewhere.add(other)
    case .suspension:
      mail.add(dependency: load)
      scenario.simulation.perform(after: .milliseconds(500)) { queue.isSuspended = true }
    case .exclusion:
      mail.add(dependency: load)
      for procedure in [mail, other] {
        procedure.add(condition: MutuallyExclusive(named: "disk", in: domain))
      }
      elsewhere.add(other)
    case .rate:
      mail.add(dependency: load)
      let disk = ExclusionCategory(named: "disk", in: domain)
      for procedure in [load, mail] {
        procedure.add(condition: RateLimit(1, per: .seconds(100), of: disk))
      }
    case .slot, .barrier: break
    case .group:
      group.add(dependency: load)
      group.isSuspended = true
    }
    queue.add(load)
    if hang == .slot { queue.add(other) }
    if hang == .barrier { queue.add(barrier: other) }
    queue.add(hang == .group ? group : mail)
    let seen = Slot<ProcedureTimeline.Snapshot>()
    scenario.at(10) { seen.value = timeline.snapshot() }
    scenario.at(20) {
      queue.isSuspended = false
      group.isSuspended = false
    }
    _ = try scenario.run()
    return try #require(seen.value)
  }

  @Test(
    "V4: the critical path of a program that hangs ends now, in the wait that lasts",
    arguments: Hang.allCases)
  func hanging(_ hang: Hang) throws {
    let snapshot = try snapshot(of: hang)
    #expect(snapshot.duration == .seconds(10))
    #expect(shares(snapshot) == hang.shares)
    #expect(snapshot.criticalPathShares.reduce(0) { $0 + $1.fraction } == 1)
    #expect(
      path(snapshot)
        == (hang == .slot || hang == .barrier ? ["load", "other", "mail"] : ["load", "mail"]))
  }

  @Test("V4: the verdict of a program that hangs names the wait, and the summary the waiter")
  func verdict() throws {
    let suspended = try snapshot(of: .suspension)
    #expect(
      suspended.verdict
        == "Of 10 s on the critical path, 90 % is suspension of queue 'queue'; "
        + "10 % work (longest: 'load', 1 s).")
    #expect(suspended.summary.contains("9 s – suspension of queue 'queue', before 'mail'"))
    #expect(
      try snapshot(of: .dependency).verdict
        == "Of 10 s on the critical path, 90 % is dependency 'other'; "
        + "10 % work (longest: 'load', 1 s).")
  }

  @Test("V4: the critical path ends with the one of several waiting that has waited longest")
  func severalWaiting() throws {
    let scenario = Scenario()
    let (queue, timeline) = (scenario.queue, scenario.timeline)
    let elsewhere = scenario.simulation.makeQueue(name: "elsewhere")
    let (old, new, other) = (lasting(1, "old"), lasting(1, "new"), lasting(100, "other"))
    for procedure in [old, new] { procedure.add(dependency: other) }
    elsewhere.add(other)
    queue.add(lasting(100, "server"), old)
    scenario.at(9) { queue.add(new, lasting(100, "job")) }
    let seen = Slot<ProcedureTimeline.Snapshot>()
    scenario.at(10) { seen.value = timeline.snapshot() }
    _ = try scenario.run()
    let snapshot = try #require(seen.value)
    #expect(path(snapshot) == ["old"])
    #expect(shares(snapshot) == ["dependency 10.0, other"])
  }

  @Test("V4: if none waits the critical path ends with the running one that was enqueued last")
  func noneWaiting() throws {
    let scenario = Scenario()
    let (queue, timeline) = (scenario.queue, scenario.timeline)
    let (first, last) = (lasting(2, "first"), lasting(100, "last"))
    last.add(dependency: first)
    queue.add(lasting(100, "server"), first, last)
    let seen = Slot<ProcedureTimeline.Snapshot>()
    scenario.at(10) { seen.value = timeline.snapshot() }
    _ = try scenario.run()
    #expect(path(try #require(seen.value)) == ["first", "last"])
  }

  @Test("V4: the path of one that was cancelled before its start goes on until its finish")
  func cancelledBeforeStart() throws {
    let scenario = Scenario()
    let (first, second) = (lasting(3, "first"), lasting(1, "second"))
    second.add(dependency: first)
    second.addWillFinishBlockObserver { _, _, pendingFinish in
      scenario.simulation.perform(after: .seconds(5)) { pendingFinish.release() }
    }
    scenario.queue.add(first, second)
    scenario.at(2) { second.cancel() }
    let snapshot = try scenario.run()
    #expect(snapshot.duration == .seconds(7))
    #expect(shares(snapshot) == ["held event 5.0, willFinish", "dependency 2.0, first"])
  }

  @Test("V1, V4: observers of one that never started are named, with the event")
  func observersBeforeStart() async {
    let clock = TestClock()
    let queue = ProcedureQueue(name: "queue", clock: clock.clock)
    let timeline = ProcedureTimeline()
    timeline.record(queue)
    let (first, second) = (TracedProcedure("first", end: .whenTold), lasting(1, "second"))
    second.add(dependency: first)
    second.addDidCancelBlockObserver { _, _ in clock.advance(by: .seconds(5)) }
    queue.add(second)
    clock.advance(by: .seconds(2))
    second.cancel()
    await queue.waitUntilAllFinished()
    let snapshot = timeline.snapshot()
    #expect(snapshot.waits(of: "second") == ["dependency 2.0 (first)", "observer 5.0 (didCancel)"])
    #expect(shares(snapshot) == ["observer 5.0, didCancel", "dependency 2.0, first"])
  }

  @Test("V4: a group whose only child had ended before the group began is traced by its own waits")
  func childEndedBefore() throws {
    let scenario = Scenario()
    let child = lasting(1, "child")
    let group = GroupProcedure(child).named("group")
    group.add(condition: Answer(clock: scenario.queue.clock, name: "licence", seconds: 5))
    scenario.queue.add(group)
    scenario.at(1) { child.cancel() }
    let snapshot = try scenario.run()
    #expect(shares(snapshot) == ["condition 5.0, licence"])
    #expect(path(snapshot) == ["group"])
  }

  @Test("V4: at any moment of any workload the shares add up to the whole time")
  func atAnyMoment() throws {
    for seed in 0..<UInt64(Rounds.size(500, otherwise: 20)) {
      let workload = RandomWorkload(seed: seed)
      let timeline = workload.scenario.timeline
      let seen = Slot<[ProcedureTimeline.Snapshot]>()
      seen.value = []
      for second in 0..<20 {
        workload.scenario.at(second) { seen.value?.append(timeline.snapshot()) }
      }
      _ = try workload.run()
      for snapshot in seen.value ?? [] where !snapshot.entries.isEmpty {
        let sum = snapshot.criticalPathShares.reduce(Duration.zero) { $0 + $1.total }
        #expect(sum == snapshot.duration, "seed \(seed), after \(snapshot.duration)")
        #expect(!snapshot.verdict.isEmpty || sum == .zero)
      }
    }
  }

  @Test("V4: on threads the shares add up too, at any moment, and after a cancel before the start")
  func onThreads() async {
    for round in 0..<20 {
      let queue = ProcedureQueue(name: "queue", maxConcurrentProcedureCount: 2)
      let timeline = ProcedureTimeline()
      timeline.record(queue)
      @Sendable func check() {
        let snapshot = timeline.snapshot()
        let sum = snapshot.criticalPathShares.reduce(Duration.zero) { $0 + $1.total }
        #expect(sum == snapshot.duration, "round \(round)")
      }
      for _ in 0..<5 { queue.add(BlockProcedure { check() }) }
      await queue.waitUntilAllFinished()
      let (first, second) = (lasting(1, "first"), lasting(1, "second"))
      second.add(dependency: first)
      queue.add(second)
      second.cancel()
      await queue.waitUntilAllFinished()
      check()
    }
  }
}
