/// Runs a procedure if a gate is open when its turn comes.
///
/// ```swift
/// queue.add(GatedProcedure(Sync()) { settings.isSyncEnabled })
/// ```
///
/// The gate is a condition: it is asked once, after all dependencies have finished, on the queue's
/// worker. If it is closed, the procedure is cancelled without errors, and so is the one inside:
/// neither executes. A gate that throws cancels with the error. It is not asked if the procedure was
/// cancelled before, and is released when it has finished.
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
