/// The failure of a step other than by its command: it is not known whether the step is needed, or
/// a file that it needs or should make is missing.
struct StepCheckFailed: Error, CustomStringConvertible {
  let description: String

  init(description: String) { self.description = description }

  /// The command has succeeded without making all outputs.
  init(missing outputs: [String]) {
    let names = outputs.prefix(3).map { "'\($0.visible)'" }.joined(separator: ", ")
    let more = outputs.count > 3 ? " and \(outputs.count - 3) more" : ""
    description = "it ended well and did not make \(names)\(more)"
  }
}
