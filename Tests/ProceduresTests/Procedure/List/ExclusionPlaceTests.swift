import ProcedureTestSupport
import Procedures
import ProceduresTesting
import Testing

/// An exclusive procedure keeps its place among those that became ready.
@Suite(.hangLimit) struct ExclusionPlaceTests {
  private let scheduler = ManualScheduler()
  private let domain = ExclusionDomain(name: "places")

  private func procedure(
    _ name: String, _ categories: String..., end: TracedProcedure.End = .whenToldOrCancelled
  ) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: end)
    for category in categories {
      procedure.add(condition: MutuallyExclusive(named: category, in: domain))
    }
    return procedure
  }

  /// Finishes whatever executes, the first of them first; says in which order they began.
  private func order(_ procedures: [TracedProcedure]) -> [String] {
    let order = Recorder<String>()
    for procedure in procedures {
      procedure.addWillExecuteBlockObserver { procedure, _ in order.note(procedure.name) }
    }
    scheduler.run()
    while let next = procedures.first(where: \.isExecuting) {
      next.finish()
      scheduler.run()
    }
    return order.events
  }

  /// Two slots: the first exclusive one and the first free one; then, each time, the next of both.
  @Test(
    "Q1, L4: four procedures that exclude each other, and four that do not, take four turns two at a time"
  )
  func fourAndFour() throws {
    try ProcedureSimulation.explore(seeds: 0..<100) { simulation in
      let domain = ExclusionDomain(name: "turns")
      let queue = simulation.makeQueue(maxConcurrentProcedureCount: 2)
      let starts = Recorder<String>()
      func add(_ name: String, isExclusive: Bool) {
        let delay = DelayProcedure(by: .milliseconds(500))
        if isExclusive { delay.add(condition: MutuallyExclusive<Int>(in: domain)) }
        delay.addWillExecuteBlockObserver { _, _ in
          starts.note("\(name) \(simulation.elapsed / .milliseconds(500))")
        }
        queue.add(delay)
      }
      for index in 0..<4 { add("exclusive \(index)", isExclusive: true) }
      for index in 0..<4 { add("free \(index)", isExclusive: false) }
      try simulation.run()
      try simulation.expect(simulation.elapsed == .seconds(2), "\(simulation.elapsed)")
      let expected = (0..<4).flatMap { ["exclusive \($0) \($0).0", "free \($0) \($0).0"] }
      try simulation.expect(starts.events.sorted() == expected.sorted(), "\(starts.events)")
    }
  }

  @Test("Q1: a procedure whose only conditions are exclusions starts in the order of adding")
  func inOrder() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let procedures = [
      procedure("a", "x"), procedure("b"), procedure("c", "x", "y"), procedure("d"),
      procedure("e", "y"), procedure("f"),
    ]
    let combined = TracedProcedure("g", end: .whenToldOrCancelled)
    combined.add(
      condition: MutuallyExclusive(named: "x", in: domain)
        && SilentCondition(MutuallyExclusive(named: "y", in: domain)))
    let last = procedure("h")
    queue.add(procedures + [combined, last])
    #expect(order(procedures + [combined, last]) == ["a", "b", "c", "d", "e", "f", "g", "h"])
  }

  @Test("Q1, G9: children whose only conditions are exclusions start in order, in each priority")
  func inGroup() {
    let children = (0..<6).map { index in
      let child = index % 2 == 0 ? procedure("\(index)", "x") : procedure("\(index)")
      child.priority = index < 3 ? .low : .normal
      return child
    }
    let group = GroupProcedure(children: children)
    group.maxConcurrentChildCount = 1
    ProcedureQueue(scheduler: scheduler).add(group)
    #expect(order(children) == ["3", "4", "5", "0", "1", "2"])
  }

  @Test(
    "Q1: an exclusive procedure's place after a dependency is by the moment when it became ready")
  func afterDependency() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let (first, second, last) = (procedure("first"), procedure("second", "x"), procedure("last"))
    second.add(dependency: first)
    let third = procedure("third", "x")
    queue.add(first, second, third, last)
    #expect(order([first, second, third, last]) == ["first", "third", "last", "second"])
  }

  @Test("Q1: an exclusion added to a ready procedure puts it behind those that are ready")
  func addedLate() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    queue.isSuspended = true
    let (first, second) = (procedure("first", "x"), procedure("second"))
    queue.add(first, second)
    first.add(condition: MutuallyExclusive(named: "y", in: domain))
    queue.isSuspended = false
    #expect(order([first, second]) == ["second", "first"])
  }

  @Test(
    "L4, Q1: a procedure that stepped aside comes back before procedures that became ready later")
  func comesBack() {
    let (queue, other) = (
      ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler),
      ProcedureQueue(scheduler: scheduler)
    )
    let holders = ["x", "y", "z"].map { procedure("holder \($0)", $0) }
    other.add(holders)
    scheduler.run()
    let waiters = ["x", "y", "z"].map { procedure($0, $0) }
    let blocker = procedure("blocker")
    queue.add(waiters)
    queue.add(blocker)
    scheduler.run()
    #expect(blocker.isExecuting && waiters.allSatisfy { $0.isPending })
    let late = (0..<2).map { procedure("late \($0)") }
    queue.add(late)
    // They come back in any order, and stand in that of adding.
    for index in [2, 0, 1] {
      holders[index].finish()
      scheduler.run()
    }
    #expect(waiters.allSatisfy { $0.isPending })
    let urgent = procedure("urgent")
    urgent.priority = .high
    queue.add(urgent)
    blocker.finish()
    #expect(order(waiters + late + [urgent]) == ["urgent", "x", "y", "z", "late 0", "late 1"])
  }

  @Test("Q1: a procedure that is let in does not take the slot before one of a higher priority")
  func priority() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 2, scheduler: scheduler)
    let (holder, filler) = (procedure("holder", "x"), procedure("filler"))
    let waiter = procedure("waiter", "x")
    queue.add(holder, waiter, filler)
    scheduler.run()
    let urgent = procedure("urgent")
    urgent.priority = .high
    queue.add(urgent)
    scheduler.run()
    #expect(holder.isExecuting && filler.isExecuting)
    holder.finish()
    scheduler.run()
    #expect(urgent.isExecuting && waiter.isPending)
    urgent.finish()
    scheduler.run()
    #expect(waiter.isExecuting)
    for procedure in [waiter, filler] { procedure.finish() }
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("L4: a procedure that got its offer while its queue was full asks again before later ones")
  func keepsTicket() {
    let (queue, other) = (
      ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler),
      ProcedureQueue(scheduler: scheduler)
    )
    let (holder, waiter, blocker) = (
      procedure("holder", "x"), procedure("waiter", "x"), procedure("blocker")
    )
    other.add(holder)
    scheduler.run()
    queue.add(waiter, blocker)
    scheduler.run()
    let others = (0..<3).map { procedure("\($0)", "x") }
    other.add(others)
    scheduler.run()
    holder.finish()
    scheduler.run()
    #expect(others[0].isExecuting)
    blocker.finish()
    scheduler.run()
    others[0].finish()
    scheduler.run()
    #expect(waiter.isExecuting && others[1].isPending)
    #expect(order([waiter] + others.dropFirst()) == ["1", "2"])
  }
}
