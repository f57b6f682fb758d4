import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

/// The waits of a queue are read while it works.
@Suite(.hangLimit) struct WaitGraphRaceTests {
  private let domain = ExclusionDomain(name: "wait graph")

  /// Waits only for procedures with lower numbers, so that everything can end.
  private func makeWorkload(
    _ generator: inout SimulationGenerator, leaves: Counter
  ) -> [Procedure] {
    var all: [Procedure] = []
    var top: [Procedure] = []
    func makeLeaf() -> Procedure {
      let leaf = BlockProcedure { leaves.increment() }
      for dependency in all where Int.random(in: 0..<6, using: &generator) == 0 {
        leaf.add(dependency: dependency)
      }
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: leaf.add(condition: MutuallyExclusive(named: "a", in: domain))
      case 1: leaf.add(condition: BlockCondition { true })
      default: break
      }
      return leaf
    }
    for _ in 0..<12 {
      if Int.random(in: 0..<3, using: &generator) == 0 {
        let group = GroupProcedure()
        for _ in 0..<3 {
          let child = makeLeaf()
          group.add(child: child)
          all.append(child)
        }
        top.append(group)
        all.append(group)
      } else {
        let leaf = makeLeaf()
        top.append(leaf)
        all.append(leaf)
      }
    }
    return top
  }

  @Test(
    "Q7: procedures that can end are never taken for a cycle, however waits change while they are read"
  )
  func noFalseCycle() async {
    for seed in 0..<Rounds.few {
      var generator = SimulationGenerator(seed: UInt64(seed))
      let queue = ProcedureQueue()
      let leaves = Counter()
      let procedures = makeWorkload(&generator, leaves: leaves)
      let found = Recorder<WaitCycle>()
      async let looked: Void = onThreadOfItsOwn {
        while !procedures.allSatisfy({ $0.isFinished }) {
          if let cycle = WaitGraph(from: queue.procedures).prove().cycles.first {
            return found.note(cycle)
          }
        }
      }
      queue.add(procedures)
      await looked
      await queue.waitUntilAllFinished()
      #expect(found.events.isEmpty, "seed \(seed): \(found.events.first?.members ?? [])")
      #expect(procedures.allSatisfy { $0.outcome == .succeeded })
    }
  }

  @Test("Q7: in a random workload with a cycle, exactly that is ended, and everything finishes")
  func findsTheCycle() async {
    for seed in 0..<Rounds.few / 10 {
      var generator = SimulationGenerator(seed: UInt64(seed))
      let queue = ProcedureQueue()
      let procedures = makeWorkload(&generator, leaves: Counter())
      let members = procedures.shuffled(using: &generator).prefix(3).filter { $0.childList == nil }
      let reports = Recorder<ProcedureDiagnostic>()
      queue.diagnosticsHandler = { reports.note($0) }
      for (member, next) in zip(members, members.dropFirst() + members.prefix(1))
      where member != next {
        member.add(dependency: next)
      }
      queue.add(procedures)
      await queue.waitUntilAllFinished()
      let cancelled = procedures.filter { $0.isCancelled }
      #expect(cancelled.isEmpty == (members.count < 2), "seed \(seed)")
      #expect(reports.events.isEmpty == (members.count < 2), "seed \(seed)")
      #expect(Set(cancelled).isSubset(of: cancelled.filter { $0.failed }))
    }
  }

  /// A thread reads in a group's list that children wait, and says so when the group has finished.
  @Test(
    "Q7, Q9: a late report of a group's children does not keep the queue from being searched"
  )
  func lateWord() throws {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.waitReportDelay = nil
    let group = GroupProcedure(children: [BlockProcedure {}])
    let children = try #require(group.childList)
    queue.add(group)
    scheduler.run()
    #expect(group.isFinished)
    let reports = Recorder<ProcedureDiagnostic>()
    queue.diagnosticsHandler = { reports.note($0) }
    queue.waitReportDelay = .seconds(10)
    let supervisor = children.context.supervisor
    #expect(supervisor.wantsLooks)
    supervisor.noteWait(in: children)
    // The next one that waits has it looked at.
    #expect(supervisor.wantsLooks)
    supervisor.noteStuck(children)
    let (a, b) = (BlockProcedure(name: "a") {}, BlockProcedure(name: "b") {})
    a.add(dependency: b)
    b.add(dependency: a)
    queue.add(a, b)
    scheduler.run()
    #expect(a.isFinished && b.isFinished)
    #expect(reports.events.map(\.code) == [.waitCycle])
  }
}
