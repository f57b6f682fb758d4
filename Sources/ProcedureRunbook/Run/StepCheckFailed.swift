/// The error of a step of which it is not known whether it is needed.
struct StepCheckFailed: Error, CustomStringConvertible {
  let key: StepCheck.Key
  let reason: String

  var description: String { "'\(key.rawValue)' \(reason)" }
}
