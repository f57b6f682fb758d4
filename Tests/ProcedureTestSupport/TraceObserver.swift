package import Procedures

/// Notes every event of a procedure in the trace into which its overrides note theirs.
///
/// So that a test sees the order of the two; `RecordingObserver` keeps its lines to itself.
package struct TraceObserver: ProcedureObserver {
  private let trace: Recorder<String>
  private let label: String

  package init(trace: Recorder<String>, label: String = "") {
    self.trace = trace
    self.label = label
  }

  private func note(_ procedure: Procedure, _ event: String) {
    trace.note("\(procedure.name) \(event)\(label)")
  }

  package func didAttach(to procedure: Procedure) { note(procedure, "didAttach") }

  package func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    note(procedure, "willExecute")
  }

  package func did(execute procedure: Procedure) { note(procedure, "didExecute") }

  package func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    note(procedure, "didCancel")
  }

  package func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {
    note(procedure, "willAdd \(newProcedure.name)")
  }

  package func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {
    note(procedure, "didAdd \(newProcedure.name)")
  }

  package func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    note(procedure, "willFinish")
  }

  package func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    note(procedure, "didFinish")
  }
}
