/// A wait that is reported if it lasts. Two looks compare it, so it keeps nothing alive.
enum LastingWait: Equatable, Sendable {
  /// It was cancelled, and has to finish.
  case end
  case event(HoldableEvent)
  case observer(ObjectIdentifier, ProcedureEvents)
  case condition(serial: UInt64)
  /// For a procedure that is on no queue.
  case missing(ObjectIdentifier)
  /// For a worker, on an underlying queue of the user.
  case thread
  /// For `finish()`, after `execute()` has returned.
  case finish
}

/// A wait that a look has seen, and its beginning.
struct SeenWait: Sendable {
  let wait: LastingWait
  let since: ContinuousClock.Instant
  /// Whether it was reported, or is not to be.
  var isDecided = false
}

/// A procedure that the framework ends: what its author gives it is a closure, a time, or a request.
///
/// For all others the author of the subclass calls `finish()`, and may have forgotten it.
package protocol EndsByItself: Procedure {}
