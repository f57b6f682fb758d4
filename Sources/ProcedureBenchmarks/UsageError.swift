/// A command line that makes no sense, or a file that cannot be used, as one sentence.
struct UsageError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
