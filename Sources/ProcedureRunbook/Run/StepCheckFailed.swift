/// The conditions of a step end it with one of these, so that its `outcome` says what became of it.

/// It is not needed: it counts as done, and what is after it goes on.
struct StepNotNeeded: Error, CustomStringConvertible {
  /// Why, in a few words; nil where the word alone says enough.
  let reason: String?

  var description: String { reason.map { "not needed: \($0)" } ?? "not needed" }
}

/// A step that it is after did not succeed.
struct StepSkipped: Error, CustomStringConvertible {
  let prerequisite: String

  var description: String { "skipped, because '\(prerequisite)' did not succeed" }
}

/// It is not known whether it is needed, or a file that it needs is not there.
struct StepCheckFailed: Error, CustomStringConvertible {
  let description: String
}
