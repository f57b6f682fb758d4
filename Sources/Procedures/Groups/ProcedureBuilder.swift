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
/// Procedures, sequences of procedures, sequences made with `then`, and optionals of these can be
/// written, with `if`, `if`-`else`, `switch`, `for` and `#available`. A procedure that is named
/// several times is one child.
@resultBuilder
public enum ProcedureBuilder {
  /// One procedure.
  public static func buildExpression(_ procedure: Procedure) -> [Procedure] { [procedure] }

  /// One procedure, or none.
  public static func buildExpression(_ procedure: Procedure?) -> [Procedure] {
    procedure.map { [$0] } ?? []
  }

  /// Several procedures: an array, or what `then` returns.
  public static func buildExpression<Several: Sequence>(_ procedures: Several) -> [Procedure]
  where Several.Element: Procedure {
    procedures.map { $0 as Procedure }
  }

  /// Something that is done on the way and is no procedure, such as setting a name.
  public static func buildExpression(_ statement: Void) -> [Procedure] { [] }

  /// Something that is done on the way and says whether it was in time, such as `add(dependency:)`.
  public static func buildExpression(_ statement: Bool) -> [Procedure] { [] }

  /// All statements, in order.
  public static func buildBlock(_ parts: [Procedure]...) -> [Procedure] { parts.flatMap { $0 } }

  /// An `if` without `else`.
  public static func buildOptional(_ part: [Procedure]?) -> [Procedure] { part ?? [] }

  /// The first branch of an `if` or `switch`.
  public static func buildEither(first part: [Procedure]) -> [Procedure] { part }

  /// The other branch of an `if` or `switch`.
  public static func buildEither(second part: [Procedure]) -> [Procedure] { part }

  /// The rounds of a `for`.
  public static func buildArray(_ parts: [[Procedure]]) -> [Procedure] { parts.flatMap { $0 } }

  /// An `if #available`.
  public static func buildLimitedAvailability(_ part: [Procedure]) -> [Procedure] { part }

  /// The whole, with each procedure once, where it came first.
  public static func buildFinalResult(_ procedures: [Procedure]) -> [Procedure] {
    var seen: Set<Procedure> = []
    return procedures.filter { seen.insert($0).inserted }
  }
}
