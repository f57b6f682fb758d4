import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

@Suite(.hangLimit) struct QuestionTests {
  private func path(_ snapshot: ProcedureTimeline.Snapshot) -> [String] {
    snapshot.criticalPath.map { "\($0.link.rawValue) \($0.entry.name)" }
  }

  @Test("V4: the critical path goes along the dependencies that ended last")
  func dependencies() throws {
    let scenario = Scenario()
    let (a, b, c, d) = (lasting(1, "a"), lasting(5, "b"), lasting(2, "c"), lasting(1, "d"))
    c.add(dependencies: a, b)
    d.add(dependency: c)
    scenario.queue.add(d, c, b, a, lasting(7, "aside"))
    #expect(path(try scenario.run()) == ["beginning b", "dependency c", "dependency d"])
  }

  @Test("V4: the critical path goes over the holder of the slot, and of the exclusion")
  func slots() throws {
    let serial = Scenario(limit: 1)
    serial.queue.add(lasting(1, "a"), lasting(2, "b"), lasting(3, "c"))
    #expect(path(try serial.run()) == ["beginning a", "slot b", "slot c"])
    let exclusive = Scenario()
    let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "questions"))
    let all = [lasting(2, "a"), lasting(3, "b")]
    for procedure in all { procedure.add(condition: AtMost(1, of: disk)) }
    exclusive.queue.add(all)
    #expect(path(try exclusive.run()) == ["beginning a", "exclusion b"])
  }

  @Test("V4: the critical path goes over a barrier, and over the last that the barrier waited for")
  func barriers() throws {
    let scenario = Scenario()
    scenario.queue.add(lasting(1, "short"), lasting(5, "long"))
    scenario.queue.add(barrier: lasting(2, "barrier"))
    let (after, last) = (lasting(1, "after"), lasting(3, "last"))
    last.add(dependency: after)
    scenario.queue.add(after, last)
    #expect(
      path(try scenario.run())
        == ["beginning long", "barrier barrier", "barrier after", "dependency last"])
  }

  @Test("V4: a group's last child is on the critical path, and a child is traced through its group")
  func groups() throws {
    let scenario = Scenario()
    let first = lasting(2, "first")
    let group = GroupProcedure(lasting(1, "short"), lasting(4, "long")).named("group")
    let last = lasting(1, "last")
    group.add(dependency: first)
    last.add(dependency: group)
    scenario.queue.add(first, group, last)
    #expect(path(try scenario.run()) == ["beginning first", "dependency long", "dependency last"])
  }

  @Test("V4: a snapshot has the waits by cause, longest first, and the slots in use over time")
  func totals() throws {
    let scenario = Scenario(limit: 2)
    let (a, b, c) = (lasting(2, "a"), lasting(4, "b"), lasting(3, "c"))
    let d = lasting(1, "d")
    d.add(dependency: c)
    scenario.queue.add(a, b, c, d)
    let snapshot = try scenario.run()
    #expect(snapshot.waits.map(\.cause) == [.dependency, .slot])
    #expect(snapshot.waits.map(\.total) == [.seconds(5), .seconds(2)])
    #expect(snapshot.longestWaits(1).map(\.entry.name) == ["d"])
    #expect(snapshot.longestWaits(for: .slot).map(\.entry.name) == ["c"])
    let use = snapshot.slotUse.map { "\($0.time / .seconds(1)): \($0.running), \($0.ready)" }
    #expect(use == ["0.0: 2, 1", "2.0: 2, 0", "4.0: 1, 0", "6.0: 0, 0"])
    #expect(snapshot.mostRunning == 2)
    #expect(snapshot.slowest(1).map(\.name) == ["b"])
    #expect(snapshot.duration == .seconds(6))
  }

  @Test("V4: an empty timeline answers everything with nothing")
  func empty() {
    let snapshot = ProcedureTimeline().snapshot()
    #expect(snapshot.criticalPath.isEmpty && snapshot.waits.isEmpty && snapshot.slotUse.isEmpty)
    #expect(snapshot.summary == "No procedures.\n")
    #expect(snapshot.chromeTrace().contains("\"traceEvents\":["))
    #expect(!snapshot.html().isEmpty)
  }

  @Test("V4: the path of any workload ends with the last to finish, and never goes back in time")
  func random() throws {
    for seed in 0..<UInt64(Rounds.size(2_000, otherwise: 40)) {
      let snapshot = try RandomWorkload(seed: seed).run()
      let path = snapshot.criticalPath
      let last = snapshot.entries.compactMap(\.finished).max()
      #expect(path.last?.entry.finished == last, "seed \(seed)")
      for (before, after) in zip(path, path.dropFirst()) {
        let begin = after.entry.started ?? after.entry.cancelled ?? after.entry.enqueued
        #expect((before.entry.finished ?? begin) <= max(begin, after.entry.finished ?? begin))
      }
    }
  }
}
