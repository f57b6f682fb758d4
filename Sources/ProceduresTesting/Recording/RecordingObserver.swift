internal import ProcedurePrimitives
public import Procedures

/// Records the events of procedures, in order, one line for each.
///
/// ```swift
/// let recording = RecordingObserver()
/// upload.add(observer: recording)
/// queue.add(upload)
/// await queue.waitUntilAllFinished()
/// try recording.expect([
///   "upload will execute", "upload did execute", "upload will finish",
///   "upload did finish: succeeded",
/// ])
/// ```
///
/// One instance may observe any number of procedures. It is called in their turns, after observers
/// that were added before it.
public final class RecordingObserver: ProcedureObserver {
  private let lines = Locked<[String]>([])

  /// The events that are recorded.
  public let events: ProcedureEvents

  /// Makes an observer that records these events; by default all except for its own attachment.
  public init(events: ProcedureEvents = ProcedureEvents.all.subtracting(.didAttach)) {
    self.events = events
  }

  /// The events so far.
  public var recorded: [String] { lines.withLock { $0 } }

  /// The difference between the recorded lines and `expected`; nil if they are equal.
  ///
  /// Lines that begin with `-` were expected; lines with `+` happened instead.
  public func difference(from expected: [String]) -> String? {
    LineDifference(expected: expected, seen: recorded)?.text
  }

  /// Throws a `RecordingError` with the difference, if there is one.
  public func expect(_ expected: [String]) throws {
    if let difference = difference(from: expected) {
      throw RecordingError(description: "Expected (-) and seen (+):\n\(difference)")
    }
  }

  private func note(_ procedure: Procedure, _ event: String) {
    let line = "\(procedure.name) \(event)"
    lines.withLock { $0.append(line) }
  }

  /// Records the event.
  public func didAttach(to procedure: Procedure) { note(procedure, "was attached") }

  /// Records the event.
  public func will(execute procedure: Procedure, pendingExecute: PendingEvent) {
    note(procedure, "will execute")
  }

  /// Records the event.
  public func did(execute procedure: Procedure) { note(procedure, "did execute") }

  /// Records the event with the errors of the cancel.
  public func did(cancel procedure: Procedure, withErrors errors: [any Error]) {
    note(procedure, "did cancel" + errors.suffix)
  }

  /// Records the event.
  public func procedure(_ procedure: Procedure, willAdd newProcedure: Procedure) {
    note(procedure, "will add \(newProcedure.name)")
  }

  /// Records the event.
  public func procedure(_ procedure: Procedure, didAdd newProcedure: Procedure) {
    note(procedure, "did add \(newProcedure.name)")
  }

  /// Records the event.
  public func will(
    finish procedure: Procedure, withErrors errors: [any Error], pendingFinish: PendingEvent
  ) {
    note(procedure, "will finish")
  }

  /// Records the event with the outcome.
  public func did(finish procedure: Procedure, withErrors errors: [any Error]) {
    note(procedure, "did finish" + (procedure.outcome.map { ": \($0)" } ?? ""))
  }
}

/// The error for events that differ from the expected ones.
public struct RecordingError: Error, CustomStringConvertible {
  /// The difference, line by line.
  public let description: String
}

extension [any Error] {
  /// Nothing, or the errors after a colon.
  var suffix: String { isEmpty ? "" : ": " + map { "\($0)" }.joined(separator: "; ") }
}
