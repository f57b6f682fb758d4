/// Runs a procedure, and ignores its errors.
///
/// ```swift
/// queue.add(IgnoreErrorsProcedure(DeleteTemporaryFiles()).then(report))
/// ```
///
/// The wrapped procedure keeps its own errors and outcome: read `procedure.outcome`. Errors with
/// which this group itself is cancelled are not ignored.
nonisolated open class IgnoreErrorsProcedure<Wrapped: Procedure>: ComposedProcedure<Wrapped>,
  @unchecked Sendable
{
  final override func takeOver(
    _ errors: [any Error], of child: Procedure
  ) -> ([any Error], ChildRelation) {
    child === procedure ? ([], .whole) : (errors, .part)
  }
}
