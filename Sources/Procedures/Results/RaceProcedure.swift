internal import ProcedurePrimitives

/// Runs several procedures that make the same at once: the first success is its output, and cancels the others.
///
/// ```swift
/// let mirrors = ["north", "south", "west"].map { Fetch(path, from: $0) }
/// let file = try await queue.value(of: RaceProcedure(mirrors))
/// ```
///
/// A group whose children race: each one that makes an `Output`, also one that you add later. The first that finishes
/// with an output, neither failed nor cancelled, wins; of two at one moment, the one that the group's turn comes to
/// first. The failures before that are forgotten.
///
/// | children | the race |
/// |---|---|
/// | one wins | succeeds when the others, which it cancels without errors, have ended |
/// | all end otherwise, some of them with errors | fails with the errors of all, each with the name of its child |
/// | all are cancelled without errors, or there are none | fails with `ProcedureError.Code.requirementNotSatisfied` |
///
/// Like each group, it finishes after its last child: one that ignores its cancel delays the race. Give each a time limit
/// of its own. With `maxConcurrentChildCount` as 1 the next is tried when one has failed.
nonisolated open class RaceProcedure<Output: Sendable>: GroupProcedure, OutputProcedure,
  @unchecked Sendable
{
  /// Touched only in turns.
  @safe @exclusivity(unchecked) private final var hasWinner = false

  /// Makes a race of procedures.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - racers: none of which may be on a queue or in a group.
  public init<Racer: OutputProcedure>(name: String? = nil, _ racers: some Sequence<Racer>)
  where Racer.Output == Output {
    super.init(name: name, children: Array(racers))
  }

  /// Makes a race of procedures of several types.
  @_disfavoredOverload  // An array of one type is that of the other one, also if it is a literal.
  public init(name: String? = nil, _ racers: [any OutputProcedure<Output>]) {
    super.init(name: name, children: racers.map { $0 as Procedure })
  }

  /// Starts the race. An override calls `super.execute()`.
  open override func execute() {
    // Until one has won, or failed.
    setOwnErrors([
      ProcedureError(
        .requirementNotSatisfied, procedure: name,
        message: "'\(name)' has no winner: none of its children has finished with an output.")
    ])
    super.execute()
  }

  final override func errorsToTakeOver(
    _ errors: [any Error], of child: Procedure
  ) -> [any Error] {
    // 1. The errors of those that have lost do not matter.
    if hasWinner { return [] }
    // 2. A success.
    if let racer = child as? any OutputProcedure<Output>, !child.isCancelled, !child.failed,
      case .success(let output)? = racer.result
    {
      hasWinner = true
      storedOutput = StoredValue(output)
      forgetErrors()
      if let childList { Self.cancel(childList, errors: [], reason: .requested) }
      return []
    }
    // 3. There are errors that say more; or the race has been cancelled, and needs none.
    if !errors.isEmpty || isCancelled { setOwnErrors([]) }
    return errors
  }
}
