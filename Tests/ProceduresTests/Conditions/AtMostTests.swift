import ProcedureTestSupport
import Procedures
import Testing

/// Counted categories.
@Suite(.hangLimit) struct AtMostTests {
  private let scheduler = ManualScheduler()
  private let domain = ExclusionDomain(name: "counted")

  private func limited(
    _ name: String, _ count: Int, _ category: String = "x"
  ) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: .whenToldOrCancelled)
    limit(procedure, count, category)
    return procedure
  }

  private func limit(_ procedure: Procedure, _ count: Int, _ category: String = "x") {
    procedure.add(condition: AtMost(count, of: ExclusionCategory(named: category, in: domain)))
  }

  private func makeQueue(_ limit: Int = .max) -> ProcedureQueue {
    ProcedureQueue(maxConcurrentProcedureCount: limit, scheduler: scheduler)
  }

  private func executing(_ procedures: [TracedProcedure]) -> [String] {
    procedures.filter(\.isExecuting).map(\.name)
  }

  private func end(_ procedures: [TracedProcedure], _ location: SourceLocation = #_sourceLocation) {
    scheduler.run()
    while let next = procedures.first(where: \.isExecuting) {
      next.finish()
      scheduler.run()
    }
    #expect(procedures.allSatisfy { $0.isFinished }, sourceLocation: location)
  }

  @Test("L5: never more than the count run, across queues and groups, in the order of asking")
  func acrossQueues() {
    let queues = [makeQueue(), makeQueue(), makeQueue()]
    let procedures = (0..<9).map { limited("\($0)", 3) }
    for (index, procedure) in procedures.enumerated() {
      queues[index % 3].add(index % 2 == 0 ? procedure : GroupProcedure(procedure))
      scheduler.run()
    }
    for index in procedures.indices {
      let expected = (index..<min(index + 3, 9)).map { "\($0)" }
      #expect(executing(procedures) == expected)
      procedures[index].finish()
      scheduler.run()
    }
    #expect(procedures.allSatisfy { $0.isFinished })
  }

  @Test("L6: a more urgent request goes before a thousand earlier ones, across queues too")
  func urgent() {
    let queues = [makeQueue(), makeQueue()]
    let holders = (0..<2).map { limited("\($0)", 2) }
    queues[0].add(holders)
    scheduler.run()
    let trace = Recorder<String>()
    func waiter(_ name: String, _ priority: ProcedurePriority) -> TracedProcedure {
      let procedure = TracedProcedure(name, trace: trace)
      procedure.priority = priority
      limit(procedure, 2)
      return procedure
    }
    queues[0].add((0..<1_000).map { _ in waiter("low", .veryLow) })
    scheduler.run()
    queues[0].add(waiter("urgent", .veryHigh))
    scheduler.run()
    queues[1].add(waiter("high", .high))
    scheduler.run()
    holders[0].finish()
    scheduler.run()
    let executed = trace.events.filter { $0.hasSuffix("execute") }
    #expect(executed.prefix(3) == ["urgent execute", "high execute", "low execute"])
    holders[1].finish()
    scheduler.run()
    #expect(trace.events.filter { $0.hasSuffix("execute") }.count == 1_002)
  }

  @Test("L5: AtMost(1) and MutuallyExclusive are one category")
  func one() {
    let procedures = [limited("a", 1), limited("b", 1), limited("c", 1)]
    let exclusive = TracedProcedure("d", end: .whenToldOrCancelled)
    exclusive.add(condition: MutuallyExclusive(named: "x", in: domain))
    let all = procedures + [exclusive]
    makeQueue().add(all)
    scheduler.run()
    for procedure in all {
      #expect(executing(all) == [procedure.name])
      procedure.finish()
      scheduler.run()
    }
  }

  @Test("L5: each of several counts is kept, and a later request does not go first")
  func severalCounts() {
    let all = [
      limited("reader 0", 4), limited("reader 1", 4), limited("writer", 1), limited("reader 2", 4),
      limited("reader 3", 2), limited("reader 4", 4),
    ]
    makeQueue().add(all)
    scheduler.run()
    #expect(executing(all) == ["reader 0", "reader 1"])
    all[0].finish()
    scheduler.run()
    #expect(executing(all) == ["reader 1"])
    all[1].finish()
    scheduler.run()
    #expect(executing(all) == ["writer"])
    all[2].finish()
    scheduler.run()
    // One of two was let in second; while it is there, a third would be one too many.
    #expect(executing(all) == ["reader 2", "reader 3"])
    all[3].finish()
    scheduler.run()
    #expect(executing(all) == ["reader 3", "reader 4"])
    end(all)
  }

  @Test("L5: the lower of two counts that one procedure names is kept")
  func twoCounts() {
    let all = (0..<3).map { limited("\($0)", 3) }
    for procedure in all { limit(procedure, 2) }
    makeQueue().add(all)
    scheduler.run()
    #expect(executing(all) == ["0", "1"])
    end(all)
  }

  @Test("L5, L4: waiters are let in when the one that kept them out is cancelled")
  func cancelledWaiter() {
    let (reader, writer) = (limited("reader", 4), limited("writer", 1))
    let late = (0..<3).map { limited("late \($0)", 4) }
    makeQueue().add([reader, writer] + late)
    scheduler.run()
    #expect(executing([reader, writer] + late) == ["reader"])
    writer.cancel()
    scheduler.run()
    #expect(writer.isFinished)
    #expect(executing([reader] + late) == ["reader", "late 0", "late 1", "late 2"])
    end([reader] + late)
  }

  @Test(
    "L5, L4: a cancelled waiting group lets others in, and so does a cancel in a suspended queue")
  func cancelledElsewhere() {
    let suspended = makeQueue()
    let (reader, writers) = (limited("reader", 4), [limited("w", 1), limited("v", 1)])
    let group = GroupProcedure(writers[0])
    let late = limited("late", 4)
    makeQueue().add(reader)
    scheduler.run()
    makeQueue().add(group)
    suspended.add(writers[1])
    scheduler.run()
    suspended.isSuspended = true
    makeQueue().add(late)
    scheduler.run()
    #expect(late.isPending)
    group.cancel()
    scheduler.run()
    #expect(group.isFinished && late.isPending)
    writers[1].cancel()
    scheduler.run()
    #expect(writers[1].isFinished && late.isExecuting)
    end([reader, late])
  }

  @Test("L2, L5: counted and other categories are asked for in one step")
  func severalCategories() {
    let all = [
      limited("a", 2, "x"), limited("b", 2, "x"), limited("c", 2, "x"), limited("d", 1, "y"),
    ]
    limit(all[0], 1, "y")
    limit(all[2], 3, "y")
    makeQueue().add(all)
    scheduler.run()
    #expect(executing(all) == ["a", "b"])
    all[1].finish()
    scheduler.run()
    #expect(executing(all) == ["a"])
    all[0].finish()
    scheduler.run()
    #expect(executing(all) == ["c"])
    all[2].finish()
    scheduler.run()
    #expect(executing(all) == ["d"])
    end(all)
  }

  @Test("L3, L5: a group lends its place to one descendant at a time, beside the others")
  func groups() {
    let children = (0..<2).map { limited("child \($0)", 2) }
    let group = GroupProcedure(children: children)
    limit(group, 2)
    let outsiders = (0..<2).map { limited("outsider \($0)", 2) }
    let all = children + outsiders
    makeQueue().add(group)
    makeQueue().add(outsiders)
    scheduler.run()
    #expect(executing(all) == ["child 0", "outsider 0"])
    children[0].finish()
    scheduler.run()
    #expect(executing(all) == ["child 1", "outsider 0"])
    children[1].finish()
    scheduler.run()
    #expect(group.isFinished && executing(all) == ["outsider 0", "outsider 1"])
    end(outsiders)
  }

  @Test("L3, L5: the innermost procedure runs in nested groups that are all counted")
  func nested() {
    let leaf = limited("leaf", 3)
    var group = GroupProcedure(leaf)
    for _ in 0..<4 {
      limit(group, 3)
      group = GroupProcedure(group)
    }
    limit(group, 1)
    makeQueue().add(group)
    scheduler.run()
    #expect(leaf.isExecuting)
    leaf.finish()
    scheduler.run()
    #expect(group.isFinished)
  }

  @Test(
    "L5, Q3: procedures that were let in, and have not started, give their places up in a suspended queue"
  )
  func suspended() {
    let (near, far) = (ManualScheduler(), ManualScheduler())
    let (queue, other) = (ProcedureQueue(scheduler: far), ProcedureQueue(scheduler: near))
    let holders = (0..<2).map { limited("holder \($0)", 2) }
    let waiters = (0..<2).map { limited("waiter \($0)", 2) }
    let last = (0..<2).map { limited("last \($0)", 2) }
    other.add(holders)
    near.run()
    queue.add(waiters)
    far.run()
    other.add(last)
    near.run()
    for holder in holders { holder.finish() }
    near.run()
    #expect(waiters.allSatisfy { $0.isPending } && last.allSatisfy { $0.isPending })
    queue.isSuspended = true
    near.run()
    #expect(last.allSatisfy { $0.isExecuting })
    queue.isSuspended = false
    far.run()
    #expect(waiters.allSatisfy { $0.isPending })
    for procedure in last { procedure.finish() }
    near.run()
    far.run()
    #expect(waiters.allSatisfy { $0.isExecuting })
    for procedure in waiters { procedure.finish() }
    far.run()
  }

  @Test("L5: the snapshot names those that are inside")
  func snapshot() {
    let all = (0..<3).map { limited("p\($0)", 2) }
    let queue = makeQueue()
    queue.add(all)
    scheduler.run()
    #expect("\(queue.snapshot())".contains("'p2' pending: it waits for 'x', held by 'p0', 'p1'"))
    end(all)
  }

  @Test("Q7, L5: a procedure is in no cycle if one of the holders of its category can end")
  func noCycle() {
    let (first, second) = (limited("first", 2), limited("second", 2))
    let third = limited("third", 2)
    let waits = GroupProcedure(TracedProcedure("inner"))
    waits.children[0].add(dependency: third)
    limit(waits, 2, "x")
    let queue = makeQueue()
    queue.add(waits, first, third)
    scheduler.run()
    #expect(third.isPending && !third.isCancelled)
    first.finish()
    scheduler.run()
    #expect(third.isExecuting)
    third.finish()
    scheduler.run()
    #expect(waits.isFinished && !waits.isCancelled)
    second.cancel()
  }

  @Test("Q7, L5: a procedure is in a cycle if none of the holders of its category can end")
  func cycle() {
    let third = limited("third", 2)
    let groups = (0..<2).map { index in
      let inner = TracedProcedure("inner \(index)")
      inner.add(dependency: third)
      let group = GroupProcedure(inner)
      limit(group, 2)
      return group
    }
    let queue = makeQueue()
    queue.add(groups)
    queue.add(third)
    scheduler.run()
    #expect(queue.count == 0 && third.isCancelled)
  }

  @Test("L5: a category is named by a type, a name or a literal")
  func spellings() {
    enum Disk {}
    #expect(AtMost(3, of: "disk").name == "AtMost(3, of: disk)")
    #expect(AtMost(3, of: "disk").exclusions == [ExclusionCategory(named: "disk")])
    #expect(ExclusionCategory("disk") == ExclusionCategory(named: "disk"))
    #expect(
      AtMost(1, of: ExclusionCategory(Disk.self)).exclusions == MutuallyExclusive<Disk>().exclusions
    )
    #expect(MutuallyExclusive(of: "disk").exclusions == MutuallyExclusive(named: "disk").exclusions)
    #expect(MutuallyExclusive(of: "disk").name == "MutuallyExclusive<disk>")
    #expect(AtMost(8, of: "disk", taking: 4).name == "AtMost(8, of: disk, taking: 4)")
    #expect("\(ExclusionLimit("disk", atMost: 8, taking: 4))" == "4 of at most 8 of disk")
    let both = AtMost(3, of: "a") && !MutuallyExclusive(named: "b")
    #expect(both.exclusionLimits.map { "\($0)" } == ["at most 3 of a", "at most 1 of b"])
  }

  private func taking(_ places: Int, of count: Int, _ name: String) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: .whenToldOrCancelled)
    procedure.add(
      condition: AtMost(count, of: ExclusionCategory(named: "x", in: domain), taking: places))
    return procedure
  }

  @Test(
    "L5: procedures with several places never exceed the count, and small ones do not pass a large one"
  )
  func places() {
    let all = [
      taking(3, of: 8, "3"), taking(4, of: 8, "4"), taking(6, of: 8, "6"), taking(1, of: 8, "1"),
      taking(8, of: 8, "8"), taking(1, of: 8, "1b"),
    ]
    makeQueue().add(all)
    scheduler.run()
    #expect(executing(all) == ["3", "4"])
    all[0].finish()
    scheduler.run()
    #expect(executing(all) == ["4"])
    all[1].finish()
    scheduler.run()
    #expect(executing(all) == ["6", "1"])
    all[3].finish()
    all[2].finish()
    scheduler.run()
    #expect(executing(all) == ["8"])
    end(all)
  }

  @Test("L5, L4: small requests are let in when the large one that kept them out is cancelled")
  func cancelledLarge() {
    let all = [taking(2, of: 4, "a"), taking(3, of: 4, "b"), taking(1, of: 4, "c")]
    makeQueue().add(all)
    scheduler.run()
    #expect(executing(all) == ["a"])
    all[1].cancel()
    scheduler.run()
    #expect(executing(all) == ["a", "c"])
    end(all)
  }

  @Test(
    "L5: the lower count and the larger share hold of two conditions of one procedure")
  func mergedPlaces() {
    let all = [taking(3, of: 4, "a"), taking(1, of: 4, "b")]
    limit(all[0], 2)
    makeQueue().add(all)
    scheduler.run()
    #expect(executing(all) == ["a"])
    all[0].finish()
    scheduler.run()
    #expect(executing(all) == ["b"])
    end(all)
  }

  @Test("L3, L5: a group lends its places to one descendant at a time, whatever that takes")
  func placesInGroup() {
    let children = [taking(4, of: 4, "inner"), taking(1, of: 4, "other")]
    let group = GroupProcedure(children: children)
    group.add(
      condition: AtMost(4, of: ExclusionCategory(named: "x", in: domain), taking: 2))
    let outside = [taking(2, of: 4, "outside"), taking(1, of: 4, "late")]
    let all = children + outside
    makeQueue().add(group)
    makeQueue().add(outside)
    scheduler.run()
    #expect(executing(all) == ["inner", "outside"])
    children[0].finish()
    scheduler.run()
    #expect(executing(all) == ["other", "outside"])
    end(all)
  }

  @Test(
    "L5, Q7: which holders have to end is counted by their places; none that can end is in a cycle")
  func placesInTheWay() {
    let (large, small) = (taking(3, of: 4, "large"), taking(1, of: 4, "small"))
    let waiter = taking(2, of: 4, "waiter")
    let queue = makeQueue()
    queue.add(large, small, waiter)
    scheduler.run()
    #expect("\(queue.snapshot())".contains("'waiter' pending: it waits for 'x', held by 'large'"))
    large.finish()
    scheduler.run()
    #expect(waiter.isExecuting)
    end([small, waiter])
  }

  @Test("L5: places that are not there trap, naming the category")
  func tooManyPlaces() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = AtMost(2, of: "GPU", taking: 3)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("AtMost(2, of: 'GPU', taking: 3) never runs: it must take at least 1"))
  }

  @Test("L5: a count of zero traps, naming the category")
  func misuse() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = AtMost(0, of: "GPU")
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      message.contains("AtMost(0, of: 'GPU') lets no procedure run: the count must be at least"))
  }

  @Test("L5: 5,000 over 20 categories on real threads are never more than so many, and all run")
  func many() async {
    let queues = [ProcedureQueue(), ProcedureQueue(maxConcurrentProcedureCount: 3)]
    let counters = (0..<20).map { _ in Counter() }
    for index in 0..<5_000 {
      let procedure = BlockProcedure {
        counters[index % 20].increment()
        counters[index % 20].decrement()
      }
      limit(procedure, 2, "\(index % 20)")
      queues[index % 2].add(procedure)
    }
    for queue in queues { await queue.waitUntilAllFinished() }
    #expect(counters.allSatisfy { $0.highest <= 2 })
  }
}
