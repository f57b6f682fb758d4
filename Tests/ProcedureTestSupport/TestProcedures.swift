internal import ProcedurePrimitives
package import Procedures

/// A procedure that notes each call of its overrides, and finishes when told or at once.
package final class TracedProcedure: Procedure, @unchecked Sendable {
  package enum End: Sendable {
    /// `execute()` calls `finish()`.
    case itself
    /// The test calls `finish()`.
    case whenTold
    /// As `whenTold`, or when it is cancelled.
    case whenToldOrCancelled
  }

  package let trace: Recorder<String>
  private let end: End
  private let failure: (any Error)?

  package init(
    _ name: String = "p", trace: Recorder<String> = Recorder(), end: End = .itself,
    failure: (any Error)? = nil
  ) {
    self.trace = trace
    self.end = end
    self.failure = failure
    super.init()
    self.name = name
  }

  package override func execute() {
    trace.note("\(name) execute")
    if end == .itself { finish(withError: failure) }
  }

  package override func procedureDidCancel(withErrors errors: [any Error]) {
    trace.note("\(name) procedureDidCancel")
    if end == .whenToldOrCancelled, isExecuting { finish() }
  }

  package override func procedureWillFinish(withErrors errors: [any Error]) {
    trace.note("\(name) procedureWillFinish")
  }

  package override func procedureDidFinish(withErrors errors: [any Error]) {
    trace.note("\(name) procedureDidFinish")
  }

  /// Adds an observer that notes every event.
  package func observeEverything() {
    add(observer: TraceObserver(trace: trace))
  }
}

/// Notes every event of a procedure.
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

/// An error that tests tell apart by its name.
package struct TestError: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String = "test error") {
    self.description = description
  }
}

/// Notes when the last reference to it goes.
package final class Tracker: Sendable {
  private let onDeinit: @Sendable () -> Void

  package init(_ onDeinit: @escaping @Sendable () -> Void) {
    self.onDeinit = onDeinit
  }

  deinit { onDeinit() }
}
