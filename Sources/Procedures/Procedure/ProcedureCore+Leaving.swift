internal import ProcedurePrimitives

/// All that a procedure gives up at its last step.
struct Leaving: Sendable {
  let attachments: Attachments
  var dependencies: Dependencies
  var dependents: Dependents
  /// Its record, if it is recorded.
  let record: ProcedureRecord?

  var isEmpty: Bool {
    attachments.isEmpty && dependencies.isEmpty && dependents.isEmpty && record == nil
  }
}

extension ProcedureCore {
  /// The last step: takes out the references to release.
  @inline(__always)
  mutating func leave(_ detail: inout NextStep.Detail) {
    if !attachments.isEmpty || !dependencies.isEmpty || !dependents.isEmpty || machine.isFailed
      || machine.isCancelled
    {
      return leaveMuch(&detail)
    }
    leaveHome()
  }

  @inline(never)
  private mutating func leaveMuch(_ detail: inout NextStep.Detail) {
    // A procedure that asks why it did not succeed learns its group: that reports the cause.
    let origin = isMember && (machine.isCancelled || machine.isFailed) ? homeOwner : nil
    let record = endRecord()
    leaveHome()
    // Whoever has others wait for it knows of it.
    if !dependents.isEmpty { noteHearer() }
    let leaving = Leaving(
      attachments: attachments.takeLeaving(),
      dependencies: exchange(&dependencies, with: Dependencies()),
      dependents: exchange(&dependents, with: Dependents()), record: record)
    if !leaving.isEmpty { detail = .end(leaving) }
    if let origin { attachments.with(Ending.self) { $0.origin = origin } }
  }
}
