import ProcedureTestSupport
import Testing

@testable import Procedures

/// Shapes in which a line, or the number of categories, is long. What looks through all of it at
/// each event does not end within the time limit.
@Suite(.serialized, .hangLimit) struct ExclusionGrowthTests {
  private let domain = ExclusionDomain(name: "growth")
  private static let count = Rounds.size(200_000, otherwise: 1_000)

  private func category(_ name: String) -> ExclusionCategory {
    ExclusionCategory(named: name, in: domain)
  }

  private func exclusive(_ categories: String...) -> Procedure {
    let procedure = BlockProcedure {}
    for name in categories {
      procedure.add(condition: MutuallyExclusive(of: category(name)))
    }
    return procedure
  }

  /// Adds what `make` makes, for 0 ..< count, to a queue, and runs it.
  private func run(
    _ count: Int = count, limit: Int = .max, _ make: @escaping @Sendable (Int) -> Procedure
  ) async {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(maxConcurrentProcedureCount: limit, scheduler: scheduler)
    queue.disableWaitWatch()
    await onThreadOfItsOwn {
      for index in 0..<count { queue.add(make(index)) }
      scheduler.run()
    }
    #expect(queue.count == 0)
  }

  @Test("many procedures wait for one category in linear time, with and without a free slot")
  func oneCategory() async {
    await run { _ in exclusive("x") }
    await run(limit: 2) { index in index % 2 == 0 ? exclusive("x") : BlockProcedure {} }
  }

  @Test("many categories take linear time")
  func manyCategories() async {
    await run { exclusive("\($0)") }
    await run { exclusive("\($0 / 2)", "shared") }
  }

  @Test("L4: the cancel of all waiters takes linear time, from either end, and of a group of them")
  func cancelOfAll() async {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.disableWaitWatch()
    await onThreadOfItsOwn {
      let holder = TracedProcedure("holder", end: .whenTold)
      holder.add(condition: MutuallyExclusive(of: category("x")))
      queue.add(holder)
      scheduler.run()
      for isReversed in [false, true] {
        let waiters = (0..<Self.count / 2).map { _ in exclusive("x", "y") }
        queue.add(waiters)
        scheduler.run()
        for waiter in isReversed ? waiters.reversed() : waiters { waiter.cancel() }
        scheduler.run()
      }
      let group = GroupProcedure(children: (0..<Self.count).map { _ in exclusive("x") })
      queue.add(group)
      scheduler.run()
      group.cancel()
      scheduler.run()
      holder.finish()
      scheduler.run()
    }
    #expect(queue.count == 0)
  }

  /// The categories of all become free, in any order, while their queue is full; then it is
  /// suspended and resumed.
  @Test(
    "L2, Q3: many offers without a slot take linear time in a queue that is suspended and resumed")
  func offersWithoutSlot() async {
    let (near, far) = (ManualScheduler(), ManualScheduler())
    let (queue, other) = (
      ProcedureQueue(scheduler: far), ProcedureQueue(scheduler: near)
    )
    for queue in [queue, other] { queue.disableWaitWatch() }
    await onThreadOfItsOwn {
      var generator = SimulationGenerator(seed: 3)
      let holders = (0..<Self.count / 4).map { index in
        let holder = TracedProcedure(end: .whenTold)
        holder.add(condition: MutuallyExclusive(of: category("\(index)")))
        return holder
      }
      other.add(holders)
      near.run()
      queue.add(holders.indices.map { exclusive("\($0)") })
      far.run()
      let half = holders.shuffled(using: &generator)
      // A worker of `far` does not come yet: these are granted, and give it up again.
      for holder in half.prefix(half.count / 2) { holder.finish() }
      near.run()
      queue.isSuspended = true
      for holder in half.suffix(half.count - half.count / 2) { holder.finish() }
      near.run()
      queue.isSuspended = false
      far.run()
    }
    #expect(queue.count == 0 && other.count == 0)
  }

  @Test("L5: many holders of, and waiters for, one counted category take linear time")
  func counted() async {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.disableWaitWatch()
    await onThreadOfItsOwn {
      let procedures = (0..<Self.count).map { _ in
        let procedure = TracedProcedure(end: .whenTold)
        procedure.add(condition: AtMost(Self.count / 2, of: category("x")))
        return procedure
      }
      queue.add(procedures)
      scheduler.run()
      for procedure in procedures {
        procedure.finish()
        scheduler.run()
      }
    }
    #expect(queue.count == 0)
  }

  @Test("L2: many categories of one procedure take linear time, added before and after the enqueue")
  func categoriesOfOne() async {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    await onThreadOfItsOwn {
      for isEnqueuedFirst in [false, true] {
        let procedure = BlockProcedure {}
        if isEnqueuedFirst { queue.add(procedure) }
        for index in 0..<Self.count {
          procedure.add(condition: MutuallyExclusive(of: category("\(index)")))
        }
        if !isEnqueuedFirst { queue.add(procedure) }
        scheduler.run()
      }
    }
    #expect(queue.count == 0)
  }

  @Test("L3: exclusive groups nested thousands deep take linear time")
  func nested() async {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.disableWaitWatch()
    await onSmallStack {
      for isOfOne in [true, false] {
        var group = GroupProcedure(exclusive("0"))
        for depth in 0..<2_000 {
          group = GroupProcedure(group)
          group.add(condition: MutuallyExclusive(of: category(isOfOne ? "0" : "\(depth)")))
        }
        queue.add(group)
        scheduler.run()
      }
    }
    #expect(queue.count == 0)
  }
}
