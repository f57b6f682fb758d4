import Procedures
import ProceduresTesting
import ProcedureTestSupport

/// An item that is no group.
final class WorkloadProcedure: Procedure, @unchecked Sendable {
  private let index: Int
  private unowned let workload: Workload

  init(_ index: Int, of workload: Workload) {
    self.index = index
    self.workload = workload
    super.init()
  }

  override func execute() {
    workload.note(index, .executeBegan)
    switch workload.plan.items[index].kind {
    case .instant:
      workload.note(index, .finishReturned(finish(), []))
    case .failing:
      let error = TestError("failure of \(index)")
      workload.note(index, .finishReturned(finish(withError: error), ["\(error)"]))
      workload.note(index, .finishReturned(finish(withError: TestError("late")), ["late"]))
    case .manual(let units, _):
      workload.finish(self, index, after: units)
    case .delay, .group:
      preconditionFailure("another class")
    }
    workload.note(index, .executeEnded)
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    workload.note(index, .didCancelOverride(errors.map { "\($0)" }))
    if case .manual(_, true) = workload.plan.items[index].kind, isExecuting { finish() }
  }

  override func procedureWillFinish(withErrors errors: [any Error]) {
    workload.note(index, .willFinishOverride)
  }

  override func procedureDidFinish(withErrors errors: [any Error]) {
    workload.note(index, .didFinishOverride)
  }
}

final class WorkloadDelay: DelayProcedure, @unchecked Sendable {
  private let index: Int
  private unowned let workload: Workload

  init(_ index: Int, of workload: Workload, by duration: Duration) {
    self.index = index
    self.workload = workload
    super.init(by: duration)
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    workload.note(index, .didCancelOverride(errors.map { "\($0)" }))
  }

  override func procedureWillFinish(withErrors errors: [any Error]) {
    workload.note(index, .willFinishOverride)
  }

  override func procedureDidFinish(withErrors errors: [any Error]) {
    workload.note(index, .didFinishOverride)
  }
}

/// Adds some of its children while it executes.
final class WorkloadGroup: GroupProcedure, @unchecked Sendable {
  private let index: Int
  private unowned let workload: Workload
  private var hasExecuted = false

  init(_ index: Int, of workload: Workload) {
    self.index = index
    self.workload = workload
    super.init(children: [])
  }

  override func execute() {
    workload.note(index, .executeBegan)
    hasExecuted = true
    enterChildren()
    super.execute()
    workload.note(index, .executeEnded)
  }

  override func procedureDidCancel(withErrors errors: [any Error]) {
    workload.note(index, .didCancelOverride(errors.map { "\($0)" }))
    workload.checkSubtree(index)
  }

  override func procedureWillFinish(withErrors errors: [any Error]) {
    workload.note(index, .willFinishOverride)
  }

  override func procedureDidFinish(withErrors errors: [any Error]) {
    workload.note(index, .didFinishOverride)
    if hasExecuted { return }
    // Nothing may wait for what is never added. These are refused, and finish.
    enterChildren()
  }

  private func enterChildren() {
    for (child, item) in workload.plan.items.enumerated() where item.parent == index {
      if case .inExecute = item.entrance { workload.enter(child) }
    }
  }
}
