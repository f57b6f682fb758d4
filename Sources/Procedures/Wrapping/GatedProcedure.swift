/// Runs a procedure if a gate is open once its dependencies have finished.
///
/// ```swift
/// queue.add(GatedProcedure(Sync()) { settings.isSyncEnabled })
/// ```
///
/// The gate is a condition. The queue's worker calls it once, after all dependencies have finished.
/// If it returns false, the group and the wrapped procedure are cancelled without errors, and
/// neither executes. If it throws, they are cancelled with the error. It is not called if the group
/// was cancelled before, and is released when the group has finished.
nonisolated open class GatedProcedure<Wrapped: Procedure>: ComposedProcedure<Wrapped>,
  @unchecked Sendable
{
  /// Wraps a procedure behind a gate.
  public init(
    name: String? = nil, _ procedure: Wrapped, gate: @escaping @Sendable () throws -> Bool
  ) {
    super.init(name: name, procedure)
    add(condition: BlockCondition(gate))
  }
}
