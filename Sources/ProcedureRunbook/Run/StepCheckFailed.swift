/// It is not known whether a step is needed, or a file that it needs is not there.
struct StepCheckFailed: Error, CustomStringConvertible {
  let description: String
}
