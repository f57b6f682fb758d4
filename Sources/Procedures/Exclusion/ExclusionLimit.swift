internal import ProcedurePrimitives

/// A category, and how many procedures may be inside it at once.
///
/// What a condition asks for: see `Condition.exclusionLimits`.
public struct ExclusionLimit: Hashable, Sendable, CustomStringConvertible {
  /// The category.
  public let category: ExclusionCategory

  /// How many at most; one excludes all others.
  public let count: Int

  /// Makes a limit. A count of less than one is a programmer error, and traps.
  public init(_ category: ExclusionCategory, atMost count: Int = 1) {
    if count < 1 {
      stopBecauseOfMisuse(
        "AtMost(\(count), of: '\(category)') lets no procedure run: the count must be at least 1.")
    }
    self.category = category
    self.count = count
  }

  /// For example `at most 3 of disk`.
  public var description: String { "at most \(count) of \(category)" }
}
