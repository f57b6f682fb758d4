/// The errors of a procedure: those that came with its cancel, and then those that it finished with.
final class ProcedureFailure: Sendable {
  let errors: [any Error]
  private let cancelErrorCount: Int

  var cancelErrors: [any Error] { Array(errors.prefix(cancelErrorCount)) }

  init(ofCancel errors: [any Error]) {
    self.errors = errors
    cancelErrorCount = errors.count
  }

  init(_ errors: [any Error], after earlier: ProcedureFailure?) {
    self.errors = (earlier?.errors ?? []) + errors
    cancelErrorCount = earlier?.cancelErrorCount ?? 0
  }
}
