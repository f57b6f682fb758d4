/// Builds the children of a group from the procedures that a closure lists, in order.
///
/// ```swift
/// GroupProcedure {
///   download.then(resize, index).then(upload)
///   if wantsReport { Report() }
///   for page in pages { Render(page) }
/// }
/// ```
///
/// The closure may contain procedures, sequences of procedures such as the results of `then`,
/// optional procedures, `if`, `if`-`else`, `switch`, `for` and `#available`. A procedure that is
/// listed several times becomes one child.
@resultBuilder
public enum ProcedureBuilder {
  /// Accepts one procedure.
  public static func buildExpression(_ procedure: Procedure) -> [Procedure] { [procedure] }

  /// Accepts one procedure, or nil for none.
  public static func buildExpression(_ procedure: Procedure?) -> [Procedure] {
    procedure.map { [$0] } ?? []
  }

  /// Accepts several procedures, such as an array or the result of `then`.
  public static func buildExpression<Several: Sequence>(_ procedures: Several) -> [Procedure]
  where Several.Element: Procedure {
    procedures.map { $0 as Procedure }
  }

  /// Accepts a statement without a value, such as setting a name.
  public static func buildExpression(_ statement: Void) -> [Procedure] { [] }

  /// Accepts a call that returns whether it was in time, such as `add(dependency:)`.
  public static func buildExpression(_ statement: Bool) -> [Procedure] { [] }

  /// Joins all statements, in order.
  public static func buildBlock(_ parts: [Procedure]...) -> [Procedure] { parts.flatMap { $0 } }

  /// Accepts an `if` without `else`.
  public static func buildOptional(_ part: [Procedure]?) -> [Procedure] { part ?? [] }

  /// Accepts the first branch of an `if` or `switch`.
  public static func buildEither(first part: [Procedure]) -> [Procedure] { part }

  /// Accepts the other branch of an `if` or `switch`.
  public static func buildEither(second part: [Procedure]) -> [Procedure] { part }

  /// Joins the iterations of a `for`.
  public static func buildArray(_ parts: [[Procedure]]) -> [Procedure] { parts.flatMap { $0 } }

  /// Accepts an `if #available`.
  public static func buildLimitedAvailability(_ part: [Procedure]) -> [Procedure] { part }

  /// Returns each procedure once, at its first place.
  public static func buildFinalResult(_ procedures: [Procedure]) -> [Procedure] {
    var seen: Set<Procedure> = []
    return procedures.filter { seen.insert($0).inserted }
  }
}
