internal import ProcedurePrimitives

/// Runs procedures with the same type of output at once: the first success is its output, and
/// cancels the others.
///
/// ```swift
/// let mirrors = ["north", "south", "west"].map { Fetch(path, from: $0) }
/// let file = try await queue.value(of: RaceProcedure(mirrors))
/// ```
///
/// It is a group. All children that make an `Output` race, including children that you add later.
/// The first child that succeeds with an output wins; if two succeed at the same moment, the
/// group's turn decides. Errors of earlier failures are dropped.
///
/// | children | the race |
/// |---|---|
/// | one wins | succeeds when the others, which it cancels without errors, have ended |
/// | none wins, and some end with errors | fails with all errors, each with the name of its child |
/// | cancelled without errors, or none | fails with `ProcedureError.Code.requirementNotSatisfied` |
///
/// Like every group it finishes after its last child, so a child that ignores its cancel delays the
/// race: give each child a time limit. With `maxConcurrentChildCount` as 1 the race tries the next
/// child when one has failed.
nonisolated open class RaceProcedure<Output: Sendable>: GroupProcedure, OutputProcedure,
  @unchecked Sendable
{
  private final let hasWinner = TurnOwned(false)

  /// Makes a race of procedures.
  ///
  /// - Parameters:
  ///   - name: its name in logs and errors.
  ///   - racers: the procedures, none of which may be on a queue or in a group.
  public init<Racer: OutputProcedure>(name: String? = nil, _ racers: some Sequence<Racer>)
  where Racer.Output == Output {
    super.init(name: name, children: Array(racers))
  }

  /// Makes a race of procedures of several types.
  @_disfavoredOverload  // An array of one type takes the other one.
  public init(name: String? = nil, _ racers: [any OutputProcedure<Output>]) {
    super.init(name: name, children: racers.map { $0 as Procedure })
  }

  /// Starts the race. An override calls `super.execute()`.
  open override func execute() {
    // The error of the race until a child wins or fails.
    setOwnErrors([
      ProcedureError(
        .requirementNotSatisfied, procedure: name,
        message:
          "'\(name.onOneLine)' has no winner: none of its children has finished with an output.")
    ])
    super.execute()
  }

  override class var traits: ProcedureTraits { [.isGroup, .firstSuccessCancelsOthers] }

  final override func takeOver(
    _ errors: [any Error], of child: Procedure
  ) -> ([any Error], ChildRelation) {
    // 1. After a win the errors of other children are dropped.
    if hasWinner.value { return ([], .part) }
    // 2. The first success: store the output, drop earlier errors, and cancel the other children.
    if let racer = child as? any OutputProcedure<Output>, !child.isCancelled, !child.failed,
      case .success(let output)? = racer.result
    {
      hasWinner.value = true
      storedOutput = StoredValue(output)
      forgetErrors()
      Self.cancel(list, errors: [], reason: .requested)
      return ([], .part)
    }
    // 3. A child's errors replace the error of the race, and a cancelled race needs none.
    if !errors.isEmpty || isCancelled { setOwnErrors([]) }
    return (errors, .part)
  }
}
