/// A wait that a look has seen, and its beginning.
struct SeenWait: Sendable {
  let wait: Wait.Identity
  let since: ContinuousClock.Instant
  /// Whether it was reported, or will not be.
  var isDecided = false
}

/// A procedure that the framework ends: its author provides a closure, a time, or a request.
///
/// The author of any other subclass calls `finish()`, and may have forgotten it.
package protocol EndsByItself: Procedure {}
