/// One step of a plan: a shell command, and what must have succeeded before it.
struct Step: Sendable, Equatable {
  let name: String
  /// Given to `/bin/sh -c`.
  let run: String
  /// Names of steps and groups.
  var after: [String] = []
  var group: String?
  var timeout: Duration?
  var directory: String?
  /// Added to the environment of this process.
  var environment: [String: String] = [:]
  /// Where it stands in the plan file.
  var line: Int?
}
