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
