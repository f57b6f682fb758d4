import ProcedureExclusion
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

@testable import Procedures

/// Mutual exclusion over queues, groups, categories and domains.
@Suite(.hangLimit) struct ExclusionShapeTests {
  private enum Disk {}

  private let scheduler = ManualScheduler()
  private let domain = ExclusionDomain(name: "shapes")

  private func exclusive(
    _ name: String, _ categories: String..., end: TracedProcedure.End = .whenToldOrCancelled
  ) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: end)
    for category in categories { exclude(procedure, category) }
    return procedure
  }

  private func exclude(_ procedure: Procedure, _ category: String) {
    procedure.add(condition: MutuallyExclusive(named: category, in: domain))
  }

  private func makeQueue(_ limit: Int = .max) -> ProcedureQueue {
    ProcedureQueue(maxConcurrentProcedureCount: limit, scheduler: scheduler)
  }

  /// Finishes whatever executes, until nothing does; says in which order it executed.
  private func order(_ procedures: [TracedProcedure]) -> [String] {
    var order: [String] = []
    scheduler.run()
    while let next = procedures.first(where: \.isExecuting) {
      order.append(next.name)
      next.finish()
      scheduler.run()
    }
    return order
  }

  @Test("L1: a type and a name are two categories, and so are two domains")
  func separate() {
    let conditions: [any Condition] = [
      MutuallyExclusive<Disk>(in: domain), MutuallyExclusive(named: "Disk", in: domain),
      MutuallyExclusive<Disk>(in: ExclusionDomain(name: "shapes")),
      MutuallyExclusive(named: "Disk", in: ExclusionDomain(name: "shapes")),
    ]
    let procedures = conditions.map { condition in
      let procedure = TracedProcedure(end: .whenTold)
      procedure.add(condition: condition)
      return procedure
    }
    makeQueue().add(procedures)
    scheduler.run()
    #expect(procedures.map(\.isExecuting) == [true, true, true, true])
    for procedure in procedures { procedure.finish() }
    scheduler.run()
  }

  @Test("L1: a category is process-wide unless a domain is named")
  func processWide() {
    enum OnlyHere {}
    let procedures = (0..<2).map { _ in
      let procedure = TracedProcedure(end: .whenTold)
      procedure.add(condition: MutuallyExclusive<OnlyHere>())
      makeQueue().add(procedure)
      return procedure
    }
    scheduler.run()
    #expect(procedures.map(\.isExecuting) == [true, false])
    #expect(order(procedures).count == 2)
  }

  @Test("L1: a category is held until after the DidFinish observers, and dependents find it free")
  func until() {
    let (first, second) = (exclusive("first", "x"), exclusive("second", "x", end: .itself))
    let seen = Recorder<ProcedureState>()
    first.addDidFinishBlockObserver { [scheduler] _, _ in
      scheduler.run()
      seen.note(second.state)
    }
    let dependent = exclusive("dependent", "x", end: .itself)
    dependent.add(dependency: first)
    makeQueue().add(first, second, dependent)
    scheduler.run()
    first.finish()
    scheduler.run()
    #expect(seen.events == [.pending] && second.isFinished && dependent.isFinished)
  }

  @Test("L1: a category that is given twice counts once")
  func twice() {
    let procedure = exclusive("p", "x", "x", end: .itself)
    procedure.add(condition: AndCondition(MutuallyExclusive(named: "x", in: domain)))
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.isFinished)
  }

  @Test("L1, D4: an exclusion holds inside Or, Not and Silent")
  func wrapped() {
    let holder = exclusive("holder", "x")
    let wrapped: [any Condition] = [
      OrCondition(BlockCondition { true }, MutuallyExclusive(named: "x", in: domain)),
      IgnoredCondition(MutuallyExclusive(named: "x", in: domain)),
      SilentCondition(MutuallyExclusive(named: "x", in: domain)),
      NotCondition(NotCondition(MutuallyExclusive(named: "x", in: domain))),
    ]
    let procedures = wrapped.map { condition in
      let procedure = TracedProcedure("\(condition.name)", end: .whenTold)
      procedure.add(condition: condition)
      return procedure
    }
    let queue = makeQueue()
    queue.add(holder)
    queue.add(procedures)
    scheduler.run()
    #expect(procedures.filter(\.isPending).count == wrapped.count)
    holder.finish()
    #expect(order(procedures).count == wrapped.count)
  }

  @Test(
    "L2: categories are asked for after dependencies and conditions, which wait without holding any"
  )
  func lastOfAll() {
    let queue = makeQueue()
    let blocker = TracedProcedure(end: .whenTold)
    let waits = exclusive("waits", "x")
    waits.add(dependency: blocker)
    let answers = Recorder<ConditionAnswer>()
    let asks = exclusive("asks", "x")
    asks.add(condition: AnswerCondition { _, answer in answers.note(answer) })
    let late = exclusive("late", "x")
    queue.add(blocker, waits, asks, late)
    scheduler.run()
    #expect(late.isExecuting)
    answers.events[0](.satisfied)
    scheduler.run()
    blocker.finish()
    #expect(order([late, asks, waits]) == ["late", "asks", "waits"])
  }

  @Test("L4: waiters of a suspended queue go in the order in which they had asked")
  func suspendedWaiters() {
    let (queue, other) = (makeQueue(), makeQueue())
    let holder = exclusive("holder", "x")
    other.add(holder)
    scheduler.run()
    let waiters = (0..<5).map { exclusive("\($0)", "x") }
    queue.add(waiters)
    scheduler.run()
    queue.isSuspended = true
    holder.finish()
    scheduler.run()
    let late = exclusive("late", "x")
    other.add(late)
    scheduler.run()
    #expect(late.isExecuting)
    queue.isSuspended = false
    #expect(order([late] + waiters) == ["late", "0", "1", "2", "3", "4"])
  }

  @Test("L2, L4: ten queues with categories in different orders run all, and none overlap")
  func crosswise() {
    let orders = ["abc", "acb", "bac", "bca", "cab", "cba", "ab", "ba", "c", "ac"]
    let procedures = orders.map { letters in
      let procedure = TracedProcedure(letters, end: .whenTold)
      for letter in letters { exclude(procedure, String(letter)) }
      return procedure
    }
    for procedure in procedures { makeQueue(1).add(procedure) }
    #expect(Set(order(procedures)) == Set(orders))
  }

  @Test("L3: the innermost procedure runs in nested exclusive groups, and two children take turns")
  func nested() {
    let (first, second) = (exclusive("first", "x"), exclusive("second", "x"))
    let inner = GroupProcedure(first, second)
    let outer = GroupProcedure(inner, exclusive("beside", "x"))
    let outsider = exclusive("outsider", "x")
    for group in [inner, outer] { exclude(group, "x") }
    makeQueue(1).add(outer)
    makeQueue(1).add(outsider)
    let beside = outer.children[1] as! TracedProcedure
    scheduler.run()
    #expect([first, second, beside].filter(\.isExecuting).count == 1)
    let order = order([first, second, beside, outsider])
    #expect(order.count == 4 && order.last == "outsider")
  }

  @Test("L3: a group lends its category to descendants, also through a group that is not exclusive")
  func skippedLevel() {
    let child = exclusive("child", "x")
    let outer = GroupProcedure(GroupProcedure(GroupProcedure(child)))
    exclude(outer, "x")
    makeQueue().add(outer)
    scheduler.run()
    #expect(child.isExecuting)
    child.finish()
    scheduler.run()
    #expect(outer.isFinished)
    let (holder, waiter) = (exclusive("holder", "x"), exclusive("waiter", "x"))
    let plain = GroupProcedure(holder)
    makeQueue().add(plain, waiter)
    scheduler.run()
    #expect(holder.isExecuting != waiter.isExecuting)
    #expect(order([holder, waiter]).count == 2)
    #expect(plain.isFinished)
  }

  @Test("L3: a child added late to an exclusive group is granted it as well")
  func lateChild() {
    let first = exclusive("first", "x")
    let group = GroupProcedure(first)
    exclude(group, "x")
    makeQueue().add(group)
    scheduler.run()
    let late = exclusive("late", "x")
    group.add(child: late)
    scheduler.run()
    #expect(late.isPending)
    #expect(order([first, late]) == ["first", "late"] && group.isFinished)
  }

  @Test("L3, D1: a prerequisite of a child is a child too, and is not shut out")
  func prerequisite() {
    let (child, brought) = (exclusive("child", "x"), exclusive("brought", "x"))
    child.add(condition: BlockCondition { true }.withPrerequisites { _ in [brought] })
    let group = GroupProcedure(child)
    exclude(group, "x")
    makeQueue().add(group)
    #expect(order([child, brought]) == ["brought", "child"] && group.isFinished)
  }

  @Test("L4, G3: a group ends that is cancelled while its children wait, which leave the line")
  func cancelledGroup() {
    let holder = exclusive("holder", "x")
    let children = (0..<3).map { exclusive("\($0)", "x") }
    let group = GroupProcedure(children: children)
    let last = exclusive("last", "x")
    let queue = makeQueue()
    queue.add(holder, group)
    scheduler.run()
    queue.add(last)
    scheduler.run()
    group.cancel()
    scheduler.run()
    #expect(group.isFinished && holder.isExecuting && last.isPending)
    holder.finish()
    scheduler.run()
    #expect(last.isExecuting)
    last.finish()
    scheduler.run()
  }

  @Test("L4, G3: a cancelled group and its child release the category in order")
  func cancelledHolders() {
    let (child, sibling) = (exclusive("child", "x"), exclusive("sibling", "x"))
    let group = GroupProcedure(child, sibling)
    exclude(group, "x")
    let outsider = exclusive("outsider", "x")
    makeQueue().add(group, outsider)
    scheduler.run()
    #expect(child.isExecuting && sibling.isPending && outsider.isPending)
    group.cancel()
    scheduler.run()
    #expect(group.isFinished && outsider.isExecuting)
    outsider.finish()
    scheduler.run()
  }

  /// How far a procedure has come when it is cancelled.
  enum Moment: CaseIterable, Sendable {
    case waitingForDependency
    case awaitingCondition
    case waitingForSlot
    case waitingInLine
    case heldBack
    case executing
  }

  @Test(
    "L4, F3: a waiter that is cancelled at any moment finishes, and the next in line runs",
    arguments: Moment.allCases)
  func cancelled(at moment: Moment) {
    let queue = makeQueue(moment == .waitingForSlot ? 1 : .max)
    let blocker = TracedProcedure("blocker", end: .whenTold)
    let (holder, next) = (exclusive("holder", "x"), exclusive("next", "x"))
    let procedure = exclusive("procedure", "x")
    let pendings = Recorder<PendingEvent>()
    let answers = Recorder<ConditionAnswer>()
    switch moment {
    case .waitingForDependency: procedure.add(dependency: blocker)
    case .awaitingCondition:
      procedure.add(condition: AnswerCondition { _, answer in answers.note(answer) })
    case .heldBack: procedure.addWillExecuteBlockObserver { _, event in pendings.note(event) }
    case .waitingForSlot, .waitingInLine, .executing: break
    }
    if moment == .waitingInLine { makeQueue().add(holder) }
    queue.add(blocker)
    scheduler.run()
    queue.add(procedure)
    scheduler.run()
    makeQueue().add(next)
    scheduler.run()
    let holds = moment == .heldBack || moment == .executing
    #expect(next.isExecuting == (!holds && moment != .waitingInLine))
    procedure.cancel()
    scheduler.run()
    #expect(procedure.isFinished && procedure.isCancelled)
    if moment == .waitingInLine {
      holder.finish()
      scheduler.run()
    }
    #expect(next.isExecuting)
    for event in pendings.events { event.release() }
    for procedure in [next, blocker] { procedure.finish() }
    scheduler.run()
    #expect(next.isFinished && queue.count == 0)
  }

  @Test("L1: procedures of every priority run one at a time, in the order of asking")
  func priorities() {
    let procedures = ProcedurePriority.allCases.map { priority in
      let procedure = exclusive("\(priority)", "x")
      procedure.priority = priority
      return procedure
    }
    makeQueue().add(procedures)
    #expect(order(procedures).count == procedures.count)
  }

  @Test("L4: when all have finished, the table is empty")
  func emptyTable() async {
    await #expect(processExitsWith: .success) {
      enum Disk {}
      let queue = ProcedureQueue(maxConcurrentProcedureCount: 3)
      for index in 0..<2_000 {
        let procedure = BlockProcedure {}
        procedure.add(condition: MutuallyExclusive<Disk>())
        procedure.add(condition: MutuallyExclusive(named: "\(index % 7)"))
        let group = GroupProcedure(procedure)
        if index % 5 == 0 { group.add(condition: MutuallyExclusive(named: "\(index % 11)")) }
        queue.add(group)
        if index % 3 == 0 { group.cancel() }
      }
      await queue.waitUntilAllFinished()
      precondition(ExclusionTable.shared.withLock { $0.count } == 0)
    }
  }
}
