/// Why the end of a procedure is not enough for another one that needs it. Requirements, conditions
/// and hand-overs say it with these errors:
///
/// | the end                          | if success is needed | if an output is needed |
/// |----------------------------------|----------------------|------------------------|
/// | succeeded, with an output        | nil                  | nil                    |
/// | succeeded, without one           | nil                  | `lacksOutput`          |
/// | succeeded, with an error as such | nil                  | `hasErrorAsOutput(_:)` |
/// | failed                           | `shortfall`          | `shortfall`            |
/// | cancelled                        | `shortfall`          | `shortfall`            |
/// | a condition was ignored          | `shortfall` names it | `shortfall` names it   |
///
/// A group succeeds with an error as its output if the error was ignored, or dealt with.
extension Procedure {
  /// Why a dependent that requires success cannot run; nil after a success, or before the end.
  @usableFromInline final var shortfall: ProcedureError? {
    switch outcome {
    case .succeeded, nil: nil
    case .failed(let errors):
      ProcedureError(.dependencyFailed, of: name, because: errors.causes, from: origin)
    case .cancelled(let errors):
      ProcedureError(
        .dependencyCancelled, of: name, because: errors.causes,
        ignored.map(ProcedureError.Details.end) ?? .none, from: origin)
    }
  }

  /// Why a procedure that needs the output cannot run after a success without one.
  @usableFromInline package final var lacksOutput: any Error {
    // The innermost part says most.
    var part: Procedure?
    var next = partWithoutOutput
    while let inner = next {
      part = inner
      next = inner.outcome?.isSuccess == true ? inner.partWithoutOutput : nil
    }
    guard let part else {
      return ProcedureError(.requirementNotSatisfied, of: name, .end(.noOutput))
    }
    let end: ProcedureError.End.OfPart =
      switch part.outcome {
      case .failed: .failed
      case .cancelled: .cancelled
      case .succeeded, nil: .noOutput
      }
    return ProcedureError(
      .requirementNotSatisfied, of: name, because: part.errors.causes,
      .end(.noOutputOfPart(part.name, end)))
  }

  /// Why a procedure that needs the output cannot run after a success with an error in its place.
  @usableFromInline
  final func hasErrorAsOutput(_ error: any Error) -> any Error {
    ProcedureError(.dependencyFailed, of: name, because: [error], .end(.errorAsOutput))
  }

  /// The group that it was a child of when it ended, if it did not succeed.
  private var origin: GroupReference? { peek { $0.ending?.value.origin } }

  /// The ignored condition: its own, or that of the procedure that it stands for.
  private final var ignored: ProcedureError.End? {
    var procedure = self
    while true {
      if let condition = procedure.ignoredCondition {
        return .ignored(condition, of: procedure === self ? nil : procedure.name)
      }
      guard let inner = procedure.asGroup?.principal else { return nil }
      procedure = inner
    }
  }

  /// The child whose output its own output lacks.
  private final var partWithoutOutput: Procedure? {
    asGroup?.principal ?? (self as? any GathersOutputs)?.childWithoutOutput
  }
}

/// A group whose output is made of the outputs of its children.
protocol GathersOutputs: GroupProcedure {
  /// A finished child without an output; nil if there is none, or it was forgotten.
  var childWithoutOutput: Procedure? { get }
}
