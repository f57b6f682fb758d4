/// A wait that a look has seen, and its beginning.
struct SeenWait: Sendable {
  let wait: Wait.Identity
  let since: ContinuousClock.Instant
  /// Whether it was reported, or is not to be.
  var isDecided = false
}

/// A procedure that the framework ends: what its author gives it is a closure, a time, or a request.
///
/// For all others the author of the subclass calls `finish()`, and may have forgotten it.
package protocol EndsByItself: Procedure {}
