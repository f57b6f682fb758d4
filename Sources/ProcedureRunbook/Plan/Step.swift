/// One step of a plan: a shell command, and what must have succeeded before it.
struct Step: Sendable, Equatable {
  let name: String
  /// Given to `/bin/sh -c`.
  let run: String
  /// Names of steps and groups.
  var after: [String] = []
  var group: String?
  /// Names of what it must have for itself: steps that share one never run at the same time.
  var exclusive: [String] = []
  /// A command for `/bin/sh` that must succeed, or the step is not needed.
  var onlyIf: String?
  /// A command for `/bin/sh` that must not succeed, or the step is not needed.
  var unless: String?
  var timeout: Duration?
  var directory: String?
  /// Added to the environment of this process.
  var environment: [String: String] = [:]
  /// Where it stands in the plan file.
  var line: Int?
}
