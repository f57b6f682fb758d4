internal import ProcedurePrimitives

/// A group around one procedure, which gives it another name, limits or observers. Subclasses may
/// add more.
///
/// ```swift
/// let attempt = ComposedProcedure(Fetch(url))
/// attempt.timeout(after: .seconds(5))
/// ```
///
/// It has the input and the output of the wrapped procedure, if that is an `InputProcedure` or an
/// `OutputProcedure`. Cancelling it cancels the wrapped procedure, as in any group.
///
/// It ends like the wrapped procedure: it takes over the errors without wrapping them, so that a
/// waiter can catch them by their own type, and it is cancelled without errors if that procedure
/// was. Errors of other children, which a subclass may add, name the child, as in any group.
nonisolated open class ComposedProcedure<Wrapped: Procedure>: GroupProcedure, @unchecked Sendable {
  /// The wrapped procedure, which is the first child.
  public final var procedure: Wrapped {
    guard let wrapped else {
      stopBecauseOfInconsistency(
        "Internal inconsistency: '\(name)' is asked what it wraps, and has gone")
    }
    return wrapped
  }

  /// Written when it is made, and by its deallocation: nil once it has released its children.
  private final var wrapped: Wrapped?

  /// Wraps a procedure, which may be on no queue and in no group.
  ///
  /// - Parameters:
  ///   - name: the group's name.
  ///   - procedure: the procedure inside.
  public init(name: String? = nil, _ procedure: Wrapped) {
    wrapped = procedure
    super.init(name: name, children: [procedure])
  }

  final override func workDidEnter(_ phase: WorkPhase) {
    super.workDidEnter(phase)
    if phase == .deallocated { wrapped = nil }
  }

  override func takeOver(
    _ errors: [any Error], of child: Procedure
  ) -> ([any Error], ChildRelation) {
    guard child === procedure else { return (errors, .part) }
    if child.isCancelled, !child.failed { cancel() }
    return (errors, .whole)
  }

  final override var principal: Procedure? { wrapped }
}

extension ComposedProcedure: InputProcedure where Wrapped: InputProcedure {
  /// The type of the wrapped procedure's input.
  public typealias Input = Wrapped.Input

  /// The input of the wrapped procedure.
  public final var input: Wrapped.Input? {
    get { procedure.input }
    set { procedure.input = newValue }
  }
}

extension ComposedProcedure: OutputProcedure where Wrapped: OutputProcedure {
  /// The type of the wrapped procedure's output.
  public typealias Output = Wrapped.Output

  /// The output of the wrapped procedure.
  public final var output: Result<Wrapped.Output, any Error>? {
    get { procedure.result }
    set { procedure.output = newValue }
  }
}
