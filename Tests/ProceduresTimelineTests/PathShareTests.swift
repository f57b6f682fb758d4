import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// What the critical path's time went to, and what the summary says of it.
@Suite(.hangLimit) struct PathShareTests {
  private func shares(_ snapshot: ProcedureTimeline.Snapshot) -> [String] {
    snapshot.criticalPathShares.map { share in
      let kind =
        switch share.kind {
        case .work: "work"
        case .notEnqueued: "not enqueued"
        case .wait(let cause): cause.label
        }
      return "\(kind) \(share.total / .seconds(1))" + (share.name.map { ", \($0)" } ?? "")
    }
  }

  @Test(
    "V4: the time of others while the next has no slot counts for the slot, with the limit")
  func slot() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.add(lasting(1, "a"), lasting(2, "b"), lasting(3, "c"))
    let snapshot = try scenario.run()
    #expect(shares(snapshot) == ["slot 3.0, queue 'queue' (limit 1)", "work 3.0"])
    #expect(snapshot.verdict.contains("50 % is slot of queue 'queue' (limit 1); 50 % work"))
    #expect(snapshot.summary.contains("slot 3 s, of queue 'queue' (limit 1)"))
  }

  @Test("V4: an exclusion counts from when the next one was in line")
  func exclusion() throws {
    let scenario = Scenario()
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "shares"))
    let (holder, waiter) = (lasting(10, "holder"), lasting(1, "waiter"))
    for procedure in [holder, waiter] { procedure.add(condition: AtMost(1, of: disk)) }
    scenario.queue.add(holder)
    scenario.at(8) { [queue = scenario.queue] in queue.add(waiter) }
    let snapshot = try scenario.run()
    #expect(shares(snapshot) == ["work 9.0", "exclusion 2.0, disk"])
    #expect(snapshot.verdict.contains("18 % exclusion 'disk'"))
  }

  @Test(
    "V4: a barrier waits for what was added before it, and that is work; those behind it wait for it"
  )
  func barrier() throws {
    let scenario = Scenario()
    scenario.queue.add(lasting(4, "before"))
    scenario.queue.add(barrier: lasting(1, "barrier"))
    var snapshot = try scenario.run()
    #expect(shares(snapshot) == ["work 5.0"])
    scenario.queue.add(lasting(4, "second"))
    scenario.queue.add(barrier: lasting(1, "second barrier"))
    scenario.at(2) { [queue = scenario.queue] in queue.add(lasting(2, "behind")) }
    snapshot = try scenario.run().during(.seconds(5) ..< .seconds(12))
    #expect(shares(snapshot) == ["work 4.0", "barrier 3.0, second barrier"])
  }

  @Test("V4: the time of others while any later step has no slot counts for the slot")
  func laterStep() throws {
    let scenario = Scenario(limit: 1)
    let (first, second) = (lasting(3, "first"), lasting(4, "second"))
    second.add(dependency: first)
    scenario.queue.add(GroupProcedure(first, second).named("group"), lasting(1, "last"))
    #expect(
      shares(try scenario.run()) == ["slot 7.0, queue 'queue' (limit 1)", "work 1.0"])
  }

  @Test("V4: a path that begins with a suspension, a condition or nothing at all says so")
  func beginnings() throws {
    let suspended = Scenario()
    suspended.queue.isSuspended = true
    suspended.queue.add(lasting(1, "a"))
    suspended.at(4) { [queue = suspended.queue] in queue.isSuspended = false }
    var snapshot = try suspended.run()
    #expect(shares(snapshot) == ["suspension 4.0, queue 'queue'", "work 1.0"])
    #expect(snapshot.summary.contains("4 s – suspension of queue 'queue', before 'a'"))

    let conditional = Scenario()
    let asks = lasting(1, "asks")
    asks.add(condition: Answer(clock: conditional.queue.clock, name: "licence", seconds: 3))
    conditional.queue.add(asks)
    snapshot = try conditional.run()
    #expect(shares(snapshot) == ["condition 3.0, licence", "work 1.0"])
    #expect(snapshot.summary.contains("3 s – condition 'licence', before 'asks'"))

    let late = Scenario()
    late.queue.add(lasting(1, "a"))
    late.at(3) { [queue = late.queue] in queue.add(lasting(1, "b")) }
    snapshot = try late.run()
    #expect(shares(snapshot) == ["not enqueued 3.0", "work 1.0"])
    #expect(snapshot.summary.contains("3 s – 'b' was not enqueued yet"))
  }

  @Test("V4: held events on the path count apart from running")
  func held() throws {
    let scenario = Scenario()
    let procedure = lasting(1, "report")
    procedure.addWillFinishBlockObserver { _, _, pendingFinish in
      scenario.simulation.perform(after: .seconds(2)) { pendingFinish.release() }
    }
    scenario.queue.add(procedure)
    let snapshot = try scenario.run()
    #expect(shares(snapshot) == ["held event 2.0, willFinish", "work 1.0"])
    #expect(
      snapshot.verdict.hasPrefix(
        "Of 3 s on the critical path, 67 % is held event 'willFinish' ('report')"))
  }

  @Test("V4: a child's wait for its group is what the group waited for")
  func group() throws {
    let scenario = Scenario()
    let group = GroupProcedure(lasting(1, "child")).named("group")
    group.add(condition: Answer(clock: scenario.queue.clock, name: "licence", seconds: 3))
    group.addWillFinishBlockObserver { _, _, pendingFinish in
      scenario.simulation.perform(after: .seconds(5)) { pendingFinish.release() }
    }
    scenario.queue.add(group)
    let snapshot = try scenario.run()
    #expect(
      shares(snapshot) == ["held event 5.0, willFinish", "condition 3.0, licence", "work 1.0"])
    #expect(snapshot.summary.contains("5 s – held event 'willFinish', of 'group'"))
  }

  @Test("V4: a child that is added late comes after what its group did before, in the words for it")
  func lateChild() throws {
    let scenario = Scenario()
    let (first, late) = (lasting(2, "first"), lasting(3, "late"))
    let group = GroupProcedure(first).named("group")
    first.addDidFinishBlockObserver { _, _ in group.add(child: late) }
    scenario.queue.add(group)
    let snapshot = try scenario.run()
    #expect(shares(snapshot) == ["work 5.0"])
    let lines = snapshot.summary.split(separator: "\n").map { $0.drop { $0 == " " } }
    let before = lines.firstIndex(of: "2 s – group 'group' ran, before 'late' was added")
    let step = try #require(lines.firstIndex { $0.hasPrefix("3 s late") }, "\(snapshot.summary)")
    #expect(before == step - 1, "\(snapshot.summary)")
    #expect(!snapshot.summary.contains("'group' finished"))
  }

  @Test("V4: a child's slot is of its group, with as many as ran at once")
  func slotOfGroup() throws {
    let scenario = Scenario()
    let group = GroupProcedure(children: (1...4).map { lasting(1, "child \($0)") }).named("group")
    group.maxConcurrentChildCount = 2
    scenario.queue.add(group)
    let snapshot = try scenario.run()
    #expect(shares(snapshot) == ["slot 1.0, group 'group' (2 at once)", "work 1.0"])
  }

  @Test("V4: waits of less than 1 % are left out of the summary")
  func short() throws {
    let scenario = Scenario(limit: 1)
    scenario.queue.add(lasting(1, "short"), lasting(200, "long"))
    let summary = try scenario.run().summary
    #expect(!summary.contains("waited: slot"))
    #expect(summary.contains("and 1 more, 1 s together"))
  }

  @Test("V4: the shares of any workload add up to its whole time")
  func random() throws {
    for seed in 0..<UInt64(Rounds.size(2_000, otherwise: 30)) {
      let snapshot = try RandomWorkload(seed: seed).run()
      let sum = snapshot.criticalPathShares.reduce(Duration.zero) { $0 + $1.total }
      #expect(sum == snapshot.duration, "seed \(seed)")
      #expect(snapshot.criticalPathShares.allSatisfy { $0.total > .zero }, "seed \(seed)")
    }
  }
}
