internal import ProcedureExclusion
internal import ProcedurePrimitives

/// A category, its number of places, and how many of them a procedure takes.
///
/// A condition requests it: see `Condition.exclusionLimits`.
public struct ExclusionLimit: Hashable, Sendable, CustomStringConvertible {
  let inner: CategoryLimit

  /// The category.
  public var category: ExclusionCategory { ExclusionCategory(id: inner.category) }

  /// The maximum number of places; one excludes all others.
  public var count: Int { inner.count }

  /// How many of them the procedure takes.
  public var places: Int { inner.places }

  /// Makes a limit. It is a programmer error, and traps, if the count is less than one, or the
  /// places are less than one or more than the count.
  public init(_ category: ExclusionCategory, atMost count: Int = 1, taking places: Int = 1) {
    if count < 1 {
      stopBecauseOfMisuse(
        "AtMost(\(count), of: '\(category)') lets no procedure run: the count must be at least 1.")
    }
    if !(1...count).contains(places) {
      stopBecauseOfMisuse(
        "AtMost(\(count), of: '\(category)', taking: \(places)) never runs: it must take at least 1 place, "
          + "and at most \(count).")
    }
    inner = CategoryLimit(category.id, atMost: count, taking: places)
  }

  /// The limit of a rate.
  init(_ category: ExclusionCategory, atMost count: Int, per interval: Duration) {
    if count < 1 || interval <= .zero {
      stopBecauseOfMisuse(
        "RateLimit(\(count), per: \(interval), of: '\(category)') lets no procedure start, or all: the count must be "
          + "at least 1, and the interval longer than zero.")
    }
    inner = CategoryLimit(category.id.starts(in: interval), atMost: count)
  }

  /// For example `at most 3 of disk`, `2 of at most 3 of disk`, or `at most 3 starts of disk in 1
  /// s`.
  public var description: String {
    let most =
      inner.category.interval.map {
        "at most \(count) start\(count == 1 ? "" : "s") of \(inner.category.text) in \($0.short)"
      } ?? "at most \(count) of \(category)"
    return (places == 1 ? "" : "\(places) of ") + most
  }
}
