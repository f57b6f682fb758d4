/// Procedures each of which waits for the next, and the last for the first.
struct WaitCycle: Equatable, Sendable {
  let members: [Procedure]

  /// Wherever they begin.
  static func == (left: Self, right: Self) -> Bool { Set(left.members) == Set(right.members) }

  /// Nothing else will: cancels them all, each with the names of all, in order, before any goes on.
  func end(reportingTo supervisor: QueueSupervisor) {
    let names = members.map(\.name)
    let error = ProcedureError.dependencyCycle(names)
    // Reported first, before the wait of any caller for a member is over.
    supervisor.report(.waitCycle(names))
    Procedure.cancel(members, errors: [error], reason: .failure(error))
  }
}
