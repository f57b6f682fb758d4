/// Runs a procedure, and finishes without errors however that ends.
///
/// ```swift
/// queue.add(IgnoreErrorsProcedure(DeleteTemporaryFiles()).then(report))
/// ```
///
/// The procedure inside keeps its own errors and outcome: look at `procedure.outcome` for them. Errors that
/// this one is itself cancelled with are not ignored.
nonisolated open class IgnoreErrorsProcedure<Wrapped: Procedure>: ComposedProcedure<Wrapped>,
  @unchecked Sendable
{
  final override func errorsToTakeOver(
    _ errors: [any Error], of child: Procedure
  ) -> [any Error] {
    child === procedure ? [] : errors
  }
}
