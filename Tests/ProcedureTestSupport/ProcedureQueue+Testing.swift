internal import Dispatch
package import Procedures

extension ProcedureQueue {
  /// A queue for procedures that block, so that they take no thread from the test runner.
  package static func withThreadOfItsOwn() -> ProcedureQueue {
    ProcedureQueue(underlyingQueue: DispatchQueue(label: "blocking"))
  }
}
