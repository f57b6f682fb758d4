package import Procedures

/// Executes until the test finishes it, with an output or without.
package final class SourceProcedure<Output: Sendable>: Procedure, OutputProcedure,
  @unchecked Sendable
{
  package init(_ name: String = "source") {
    super.init()
    self.name = name
  }

  package override func execute() {}
}
