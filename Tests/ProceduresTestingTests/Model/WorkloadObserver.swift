import Procedures
import ProcedureTestSupport

/// Notes what happens to one item, and holds events back if the plan says so.
struct WorkloadObserver: ProcedureObserver {
  private let index: Int
  private let workload: Workload

  init(_ index: Int, of workload: Workload) {
    self.index = index
    self.workload = workload
  }

  var events: ProcedureEvents {
    [.willExecute, .didExecute, .didCancel, .willFinish, .didFinish]
  }

  private var item: WorkloadPlan.Item { workload.plan.items[index] }

  func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    workload.note(index, .willExecute)
    workload.hold(pendingExecute, item.holdsExecute)
  }

  func did(execute procedure: Procedure) { workload.note(index, .didExecute) }

  func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    workload.note(index, .didCancel(errors.map { "\($0)" }))
  }

  func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    workload.note(index, .willFinish)
    workload.hold(pendingFinish, item.holdsFinish)
  }

  func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    workload.note(index, .didFinish)
  }
}

/// Answers at once.
struct WorkloadCondition: SynchronousCondition {
  let index: Int
  let number: Int
  let verdict: WorkloadPlan.Verdict
  let workload: Workload

  func evaluate(_ procedure: Procedure) -> ConditionResult {
    workload.note(index, .evaluated(check: number))
    return verdict.result(of: index)
  }
}

/// Answers after a while.
struct AsyncWorkloadCondition: Condition {
  let index: Int
  let number: Int
  let verdict: WorkloadPlan.Verdict
  let workload: Workload

  func evaluate(_ procedure: Procedure) async -> ConditionResult {
    workload.note(index, .evaluated(check: number))
    await Task.yield()
    return verdict.result(of: index)
  }
}

extension WorkloadPlan.Verdict {
  fileprivate func result(of index: Int) -> ConditionResult {
    switch self {
    case .satisfied: .satisfied
    case .ignored: .ignored
    case .failed: .failed(TestError("condition of \(index)"))
    }
  }
}
