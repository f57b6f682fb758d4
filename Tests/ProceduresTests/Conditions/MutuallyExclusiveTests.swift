import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct MutuallyExclusiveTests {
  private enum Disk {}

  private let scheduler = ManualScheduler()
  private let domain = ExclusionDomain(name: "test")

  private func makeExclusive(
    _ name: String, _ end: TracedProcedure.End = .whenTold
  ) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: end)
    procedure.add(condition: MutuallyExclusive<Disk>(in: domain))
    return procedure
  }

  @Test("L1, L4: procedures of a category run one at a time, in the order of asking, across queues")
  func oneAtATime() {
    let queues = [ProcedureQueue(scheduler: scheduler), ProcedureQueue(scheduler: scheduler)]
    let procedures = (0..<6).map { makeExclusive("\($0)") }
    for (index, procedure) in procedures.enumerated() {
      queues[index % 2].add(procedure)
      scheduler.run()
    }
    for (index, procedure) in procedures.enumerated() {
      #expect(procedures.filter(\.isExecuting) == [procedure], "\(index)")
      procedure.finish()
      scheduler.run()
      #expect(procedure.isFinished)
    }
  }

  @Test("L2: a procedure that waits for a category takes no slot")
  func noSlot() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 2, scheduler: scheduler)
    let (first, second) = (makeExclusive("first"), makeExclusive("second"))
    let free = TracedProcedure("free", end: .whenTold)
    queue.add(first, second, free)
    scheduler.run()
    #expect(first.isExecuting && second.isPending && free.isExecuting)
    first.finish()
    scheduler.run()
    #expect(second.isExecuting)
  }

  @Test("L2: a procedure without a slot keeps no category from others")
  func noSlotNoLock() {
    let serial = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let other = ProcedureQueue(scheduler: scheduler)
    let holder = makeExclusive("holder")
    let waiter = makeExclusive("waiter")
    let blocker = TracedProcedure("blocker", end: .whenTold)
    let late = makeExclusive("late")
    other.add(holder)
    scheduler.run()
    serial.add(waiter)
    scheduler.run()
    serial.add(blocker)
    scheduler.run()
    #expect(blocker.isExecuting && waiter.isPending)
    holder.finish()
    scheduler.run()
    other.add(late)
    scheduler.run()
    #expect(waiter.isPending && late.isExecuting)
    blocker.finish()
    scheduler.run()
    #expect(waiter.isPending)
    late.finish()
    scheduler.run()
    #expect(waiter.isExecuting)
  }

  @Test("L3: a child is granted what its group holds; its siblings wait for each other")
  func lineage() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (first, second) = (makeExclusive("first"), makeExclusive("second"))
    let group = GroupProcedure(GroupProcedure(first), second)
    group.add(condition: MutuallyExclusive<Disk>(in: domain))
    let outsider = makeExclusive("outsider")
    queue.add(group, outsider)
    scheduler.run()
    #expect([first, second].filter(\.isExecuting).count == 1 && outsider.isPending)
    for child in [first, second] where child.isExecuting { child.finish() }
    scheduler.run()
    #expect([first, second].filter(\.isExecuting).count == 1 && outsider.isPending)
    for child in [first, second] where child.isExecuting { child.finish() }
    scheduler.run()
    #expect(group.isFinished && outsider.isExecuting)
    outsider.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("L4: a cancelled waiter leaves the line, and finishes; the holder keeps what it holds")
  func cancelledWaiter() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedures = ["a", "b", "c"].map { makeExclusive($0) }
    queue.add(procedures)
    scheduler.run()
    procedures[1].cancel()
    scheduler.run()
    #expect(procedures[1].isFinished && procedures[0].isExecuting && procedures[2].isPending)
    procedures[0].finish()
    scheduler.run()
    #expect(procedures[2].isExecuting)
  }

  @Test(
    "L2: requests for several categories in any order do not block each other")
  func severalCategories() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let names = ["ab", "ba", "a", "b", "abc", "c"]
    let order = Recorder<String>()
    let procedures = names.map { name in
      let procedure = TracedProcedure(name, end: .whenTold)
      for letter in name {
        procedure.add(condition: MutuallyExclusive(named: String(letter), in: domain))
      }
      return procedure
    }
    queue.add(procedures)
    scheduler.run()
    var running = procedures.filter(\.isExecuting)
    #expect(running.map(\.name) == ["ab", "c"])
    while let first = running.first {
      order.note(first.name)
      first.finish()
      scheduler.run()
      running = procedures.filter(\.isExecuting)
      let letters = running.flatMap(\.name)
      #expect(Set(letters).count == letters.count)
    }
    #expect(queue.count == 0 && Set(order.events) == Set(names))
  }

  @Test("L1, L4: 3,000 over 100 categories on one queue never overlap, and all run")
  func many() async {
    let queue = ProcedureQueue()
    let counters = (0..<100).map { _ in Counter() }
    queue.add(
      (0..<3_000).map { index in
        let procedure = BlockProcedure {
          counters[index % 100].increment()
          counters[index % 100].decrement()
        }
        procedure.add(condition: MutuallyExclusive(named: "\(index % 100)", in: domain))
        return procedure
      })
    await queue.waitUntilAllFinished()
    #expect(counters.allSatisfy { $0.highest == 1 })
  }
}
