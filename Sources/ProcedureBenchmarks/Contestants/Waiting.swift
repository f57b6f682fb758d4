import Procedures

/// A procedure that executes until it is cancelled.
final class Waiting: Procedure, @unchecked Sendable {
  override func execute() { Tally.note() }
  override func procedureDidCancel(withErrors errors: [any Error]) {
    if isExecuting { finish() }
  }
}
