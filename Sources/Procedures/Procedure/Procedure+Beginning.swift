internal import ProcedurePrimitives

/// Work that a procedure has begun in `execute()`, with which the worker goes on after the turn.
enum Begun: Sendable {
  /// A task, whose first step it is.
  case task(ProcedureTask)
  /// The children of a group, for whom no other worker was asked.
  case children(ReadyList)
}

extension Procedure {
  /// A group has executed, and this worker can go on with its children, unless more of the turn runs user code, which
  /// may block: then they get another one.
  ///
  /// - Returns: the rest of the turn; nil if it is over.
  @inline(never)
  final func stepAfterBeginning(
    _ children: ReadyList, on worker: Worker, _ detail: inout NextStep.Detail
  ) -> NextStep? {
    var next = update { $0.nextStep(on: worker, &detail) }
    if case .settleChildren = next.step {
      settleChildren()
      next = update { $0.nextStep(on: worker, &detail) }
    }
    if case .idle = next.step, case .none = detail { return nil }
    Worker.submit(for: children, on: children.contextNow)
    return next
  }
}
