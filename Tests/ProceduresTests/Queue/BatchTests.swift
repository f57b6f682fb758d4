import ProcedureTestSupport
import Procedures
import Testing

/// Procedures that are added in one call.
@Suite(.hangLimit) struct BatchTests {
  private let trace = Recorder<String>()

  private static let priorities: [ProcedurePriority] = [
    .low, .normal, .veryLow, .veryHigh, .normal,
  ]

  private func procedures(_ condition: (any Condition)? = nil) -> [TracedProcedure] {
    Self.priorities.enumerated().map { index, priority in
      let procedure = TracedProcedure("\(priority) \(index)", trace: trace)
      procedure.priority = priority
      if let condition { procedure.add(condition: condition) }
      return procedure
    }
  }

  private static let inOrder = ["veryHigh 3", "normal 1", "normal 4", "low 0", "veryLow 2"]

  private var executed: [String] {
    trace.events.filter { $0.hasSuffix(" execute") }.map { String($0.dropLast(" execute".count)) }
  }

  /// A queue with one slot, whose worker is faster than whoever adds.
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: EagerScheduler())
  }

  enum Way: CaseIterable {
    case several, array, set, lazy
  }

  @Test(
    "Q12, Q1: the most urgent of procedures that are added in one call starts first",
    arguments: Way.allCases)
  func priorities(way: Way) async {
    let (queue, all) = (makeQueue(), procedures())
    await onThreadOfItsOwn {
      switch way {
      case .several: queue.add(all[0], all[1], all[2], all[3], all[4])
      case .array: queue.add(all as [Procedure])
      case .set: queue.add(Set(all))
      case .lazy: queue.add(all.lazy.filter { _ in true })
      }
    }
    let expected = way == .set ? Set(Self.inOrder) : []
    #expect(way == .set ? Set(executed) == expected : executed == Self.inOrder)
    #expect(executed.first == "veryHigh 3" && executed.last == "veryLow 2")
    #expect(queue.count == 0)
  }

  @Test("Q12: the most urgent starts first among groups, and among procedures with conditions")
  func withRequirements() async {
    let domain = ExclusionDomain(name: "batch")
    let conditions: [any Condition] = [
      BlockCondition { true }, AtMost(9, of: ExclusionCategory(named: "x", in: domain)),
    ]
    for condition in conditions {
      let (queue, all) = (makeQueue(), procedures(condition))
      await onThreadOfItsOwn { queue.add(all) }
      for procedure in all { await procedure.waitUntilFinished() }
    }
    #expect(executed == Self.inOrder + Self.inOrder)
    let queue = makeQueue()
    let groups = procedures().map { child in
      let group = GroupProcedure(child)
      group.priority = child.priority
      return group
    }
    await onThreadOfItsOwn { queue.add(groups) }
    for group in groups { await group.waitUntilFinished() }
    #expect(Array(executed.suffix(5)) == Self.inOrder)
  }

  @Test(
    "Q12: the most urgent of children that are added in one call starts first, with its observers",
    arguments: [false, true])
  func children(areAnnounced: Bool) async {
    let queue = ProcedureQueue(scheduler: EagerScheduler())
    let keeper = TracedProcedure("keeper", end: .whenTold)
    let group = GroupProcedure(keeper)
    group.maxConcurrentChildCount = 2
    if areAnnounced {
      group.addWillAddProcedureBlockObserver { [trace] _, child in trace.note(child.name) }
    }
    await onThreadOfItsOwn { queue.add(group) }
    let all = procedures()
    await onThreadOfItsOwn { group.add(children: all) }
    #expect(executed == Self.inOrder)
    let told = trace.events.filter { !$0.contains(" procedure") && !$0.hasSuffix(" execute") }
    #expect(told == (areAnnounced ? ["keeper"] + all.map(\.name) : []))
    if areAnnounced {
      let last = trace.events.lastIndex(of: all[4].name)!
      #expect(trace.events.firstIndex { $0.hasSuffix(" execute") }! > last)
    }
    await onThreadOfItsOwn { _ = keeper.finish() }
    await group.waitUntilFinished()
    #expect(group.outcome == .succeeded)
  }

  @Test(
    "Q12, C2, C3: one call may add a cancelled procedure, and procedures that depend on each other")
  func cancelledAndDependent() async {
    let (queue, all) = (makeQueue(), procedures())
    all[3].cancel()
    all[1].add(dependency: all[2])
    await onThreadOfItsOwn { queue.add(all) }
    #expect(executed == ["normal 4", "low 0", "veryLow 2", "normal 1"])
    // Its cancel is delivered by a thread of the pool, as it was on no queue then.
    await queue.waitUntilAllFinished()
    #expect(all[3].outcome == .cancelled([]) && queue.count == 0)
  }

  @Test("Q12, Q8: a closed queue refuses each of them, when no other is waited for")
  func closed() async {
    let (queue, all) = (makeQueue(), procedures())
    let reports = Recorder<String>()
    queue.diagnosticsHandler = { reports.note($0.procedureName) }
    queue.close()
    await onThreadOfItsOwn { queue.add(all) }
    #expect(reports.events == all.map(\.name))
    for procedure in all {
      await procedure.waitUntilFinished()
      let refusal = ProcedureError(.queueClosed, procedure: queue.name)
      #expect(procedure.errors.first as? ProcedureError == refusal)
    }
    #expect(executed.isEmpty && queue.count == 0)
  }

  @Test("Q12, G2: a group that has finished refuses each of them")
  func finishedGroup() async {
    let (queue, all) = (makeQueue(), procedures())
    let group = GroupProcedure()
    await onThreadOfItsOwn {
      queue.add(group)
      group.add(children: all)
    }
    for procedure in all {
      await procedure.waitUntilFinished()
      #expect(ProcedureError.Code.groupFinished ~= procedure.errors[0])
    }
    #expect(executed.isEmpty)
  }

  @Test("Q12: barriers before and after hold for all of them")
  func barriers() async {
    let (queue, all) = (makeQueue(), procedures())
    let (first, last) = (
      TracedProcedure("first", trace: trace, end: .whenTold), TracedProcedure("last", trace: trace)
    )
    await onThreadOfItsOwn {
      queue.add(barrier: first)
      queue.add(all)
      queue.add(barrier: last)
    }
    #expect(executed == ["first"])
    await onThreadOfItsOwn { _ = first.finish() }
    for procedure in all + [last] { await procedure.waitUntilFinished() }
    #expect(executed.first == "first" && executed.last == "last" && executed.count == 7)
  }

  @Test(
    "Q12, Q5: the delegate is called for all before the first is a member, and again when all are")
  func delegate() async {
    final class Delegate: ProcedureQueueDelegate {
      let events = Recorder<String>()
      func procedureQueue(_ queue: ProcedureQueue, willAdd procedure: Procedure) {
        events.note("will \(queue.count)")
      }
      func procedureQueue(_ queue: ProcedureQueue, didAdd procedure: Procedure) {
        events.note("did \(queue.count)")
      }
    }
    let (queue, delegate) = (makeQueue(), Delegate())
    queue.isSuspended = true
    queue.delegate = delegate
    queue.add(TracedProcedure(), TracedProcedure())
    #expect(delegate.events.events == ["will 0", "will 0", "did 2", "did 2"])
    queue.cancelAll()
    await queue.waitUntilAllFinished()
  }

  @Test("Q12: a batch on Dispatch starts as one, against workers, other callers and cancels")
  func race() async {
    let rounds = Rounds.size(3_000, otherwise: 100)
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    for _ in 0..<rounds {
      let alone = ProcedureQueue(maxConcurrentProcedureCount: 1)
      let order = Recorder<Int>()
      let batch = (0..<3).map { index in
        let procedure = BlockProcedure { order.note(index) }
        procedure.priority = [.low, .normal, .veryHigh][index]
        return procedure
      }
      alone.add(batch)
      let others = (0..<6).map { index in
        let procedure = BlockProcedure {}
        procedure.priority = ProcedurePriority.allCases[index % 5]
        return procedure
      }
      others[2].add(dependency: others[4])
      async let first: Void = onThreadOfItsOwn { queue.add(others[0], others[1], others[2]) }
      async let second: Void = onThreadOfItsOwn { queue.add(others[3], others[4], others[5]) }
      others[1].cancel()
      others[5].cancel()
      _ = await (first, second)
      for procedure in batch + others { await procedure.waitUntilFinished() }
      #expect(order.events == [2, 1, 0])
    }
    await queue.waitUntilAllFinished()
    #expect(queue.count == 0)
  }
}
