/// An error that tests tell apart by its name.
package struct TestError: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String = "test error") {
    self.description = description
  }
}
