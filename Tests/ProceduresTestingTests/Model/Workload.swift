import ProcedurePrimitives
import Procedures
import ProceduresTesting
import ProcedureTestSupport

/// A plan, made of procedures, and what is seen of them.
final class Workload: Sendable {
  let plan: WorkloadPlan
  let stage: any WorkloadStage
  let queues: [ProcedureQueue]
  private let sources: [CancellationTokenSource]
  private let events = Locked<[WorkloadEvent]>([])
  private let made = Locked<[Procedure]>([])
  private let unfinishedActions = Counter()

  var procedures: [Procedure] { made.withLock { $0 } }
  var seen: [WorkloadEvent] { events.withLock { $0 } }

  init(_ plan: WorkloadPlan, on stage: any WorkloadStage) {
    self.plan = plan
    self.stage = stage
    queues = plan.limits.enumerated().map { index, limit in
      stage.makeQueue(name: "queue \(index)", maxConcurrentProcedureCount: limit)
    }
    sources = plan.items.map { _ in CancellationTokenSource() }
    let domain = ExclusionDomain(name: "workload")
    for index in plan.items.indices {
      let procedure = make(index)
      made.withLock { $0.append(procedure) }
      prepare(procedure, index, in: domain)
    }
  }

  func note(_ index: Int, _ kind: WorkloadEvent.Kind) {
    events.withLock { events in
      // The state is read under the lock, so that it is not older than an event before.
      let state = made.withLock { index < $0.count ? $0[index].state : .initialized }
      events.append(WorkloadEvent(index: index, kind: kind, state: state))
    }
  }

  /// The cancel of a group is delivered, in whatever way.
  func checkSubtree(_ index: Int) {
    guard let group = procedures[index] as? GroupProcedure else { return }
    var open = [group]
    while let next = open.popLast() {
      for child in next.children {
        // On threads a whole subtree may just be being added: then it is not marked as a whole yet.
        if stage is SimulatedStage, let group = child as? GroupProcedure, group.isCancelled {
          open.append(group)
        }
        // Being added at this moment, it may be among the children before it is pending.
        let state = child.state
        if state == .pending || state == .started, !child.isCancelled {
          note(index, .sawUncancelledChild)
        }
      }
    }
  }

  // MARK: Making

  private func make(_ index: Int) -> Procedure {
    let procedure: Procedure
    switch plan.items[index].kind {
    case .instant, .failing, .manual:
      procedure = WorkloadProcedure(index, of: self)
    case .delay(let units):
      procedure = WorkloadDelay(index, of: self, by: stage.duration(units))
    case .group(let limit, let cancelsRemaining, let isPlain):
      let group = isPlain ? GroupProcedure() : WorkloadGroup(index, of: self)
      group.maxConcurrentChildCount = limit
      if cancelsRemaining { group.failurePolicy = .cancelRemaining }
      procedure = group
    }
    procedure.name = "p\(index)"
    return procedure
  }

  private func prepare(_ procedure: Procedure, _ index: Int, in domain: ExclusionDomain) {
    let item = plan.items[index]
    if item.isObserved || item.isPlainGroup {
      procedure.add(observer: WorkloadObserver(index, of: self))
    }
    for dependency in item.dependencies {
      procedure.add(
        dependency: procedures[dependency.item], requiring: dependency.requirement)
    }
    for (number, check) in item.checks.enumerated() {
      if check.isAsynchronous {
        procedure.add(
          condition: AsyncWorkloadCondition(
            index: index, number: number, verdict: check.verdict, workload: self))
      } else {
        procedure.add(
          condition: WorkloadCondition(
            index: index, number: number, verdict: check.verdict, workload: self))
      }
    }
    for category in item.categories.sorted() {
      procedure.add(condition: MutuallyExclusive(named: "c\(category)", in: domain))
    }
    if item.isGroup {
      procedure.cancellationToken.onCancel { [weak self] in self?.checkSubtree(index) }
    }
    if item.hasToken { procedure.cancel(when: sources[index].token) }
  }

  // MARK: Performing

  /// Sets everything off, and returns at once.
  func start() {
    for (time, action) in plan.actions { perform(after: time) { self.carryOut(action) } }
    for (index, item) in plan.items.enumerated() where item.isCancelledBefore {
      cancel(index, withError: true)
    }
    // Children first, so that a group has them when it is added.
    for (index, item) in plan.items.enumerated().reversed() {
      switch item.entrance {
      case .atOnce: enter(index)
      case .after(let units): perform(after: units) { self.enter(index) }
      case .inExecute: break
      }
    }
  }

  private func perform(after units: Int, _ action: @escaping @Sendable () -> Void) {
    unfinishedActions.increment()
    stage.perform(after: units) { [unfinishedActions] in
      action()
      unfinishedActions.decrement()
    }
  }

  var hasUnfinishedActions: Bool { unfinishedActions.value > 0 }

  func enter(_ index: Int) {
    let procedure = procedures[index]
    if let parent = plan.items[index].parent, let group = procedures[parent] as? GroupProcedure {
      note(index, .added(group.add(child: procedure)))
    } else {
      queues[plan.items[index].queue].add(procedure)
      note(index, .added(true))
    }
  }

  private func cancel(_ index: Int, withError: Bool) {
    let errors = withError ? [TestError("cancelled \(index)")] : []
    let result = procedures[index].cancel(withErrors: errors)
    note(index, .cancelReturned(result, errors.map { "\($0)" }))
  }

  private func carryOut(_ action: WorkloadPlan.Action) {
    switch action {
    case .cancel(let index, let withError):
      cancel(index, withError: withError)
    case .fireToken(let index):
      sources[index].cancel()
    case .suspendQueue(let index, let end):
      queues[index].isSuspended = true
      note(index, .queueSuspended)
      perform(after: end) {
        self.note(index, .queueResumed)
        self.queues[index].isSuspended = false
      }
    case .suspendGroup(let index, let end):
      guard let group = procedures[index] as? GroupProcedure else { return }
      group.isSuspended = true
      perform(after: end) { group.isSuspended = false }
    case .cancelAll(let index):
      queues[index].cancelAll()
    case .observe(let index):
      procedures[index].addDidFinishBlockObserver { [self] _, _ in note(index, .lateObserverTold) }
    }
  }

  /// A held event is released after a while.
  func hold(_ event: PendingEvent, _ units: Int?) {
    guard let units else { return }
    perform(after: units) { event.release() }
  }

  func finish(_ procedure: Procedure, _ index: Int, after units: Int) {
    perform(after: units) {
      let result = procedure.finish()
      self.note(index, .finishReturned(result, []))
    }
  }
}
