import Procedures

/// A procedure that does nothing: made, added, executed, finished, released.
final class NoOperation: Procedure, @unchecked Sendable {
  override func execute() {
    Tally.note()
    finish()
  }
}
