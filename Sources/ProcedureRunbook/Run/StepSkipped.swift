/// The error of a step that was not run, because one it is after did not succeed.
struct StepSkipped: Error, CustomStringConvertible {
  let name: String
  let prerequisite: String

  var description: String { "'\(name)' was skipped, because '\(prerequisite)' did not succeed" }
}
