/// Something that is probably a mistake in how procedures are used. It reads as a sentence.
///
/// A struct with a code, so that later versions can report more without breaking a `switch`.
public struct ProcedureDiagnostic: Sendable, CustomStringConvertible {
  /// What kind of thing was noticed.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// `finish` was called at a moment when it cannot count.
    public static let finishRefused = Code(description: "finishRefused")
  }

  /// What kind of thing was noticed.
  public let code: Code

  /// The name of the procedure that it is about.
  public let procedureName: String

  /// What happened, and what to do about it.
  public let description: String

  static func finishRefused(_ procedure: Procedure) -> ProcedureDiagnostic {
    let name = procedure.name
    let advice =
      procedure is GroupProcedure
      ? "a group finishes when its children have; cancel it to end it early."
      : "it has not started; cancel it instead."
    return ProcedureDiagnostic(
      code: .finishRefused, procedureName: name,
      description: "finish() on '\(name)' was refused: \(advice)")
  }
}
