/// Why a step has failed, other than by its command: it is not known whether it is needed, or a file that
/// it needs or was to make is not there.
struct StepCheckFailed: Error, CustomStringConvertible {
  let description: String

  init(description: String) { self.description = description }

  /// It has succeeded, and made less than it says.
  init(missing outputs: [String]) {
    let names = outputs.prefix(3).map { "'\($0.visible)'" }.joined(separator: ", ")
    let more = outputs.count > 3 ? " and \(outputs.count - 3) more" : ""
    description = "it ended well and did not make \(names)\(more)"
  }
}
