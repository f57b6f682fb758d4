internal import ProcedurePrimitives

/// A category, its number of places, and how many of them a procedure takes.
///
/// A condition requests it: see `Condition.exclusionLimits`.
public struct ExclusionLimit: Hashable, Sendable, CustomStringConvertible {
  /// The category.
  public let category: ExclusionCategory

  /// The maximum number of places; one excludes all others.
  public let count: Int

  /// How many of them the procedure takes.
  public let places: Int

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
    self.category = category
    self.count = count
    self.places = places
  }

  /// The limit of a rate.
  init(_ category: ExclusionCategory, atMost count: Int, per interval: Duration) {
    if count < 1 || interval <= .zero {
      stopBecauseOfMisuse(
        "RateLimit(\(count), per: \(interval), of: '\(category)') lets no procedure start, or all: the count must be "
          + "at least 1, and the interval longer than zero.")
    }
    self.category = category.starts(in: interval)
    self.count = count
    places = 1
  }

  /// Both limits at once: the lower count, and the larger share of it.
  func merged(with other: Self) -> Self {
    let count = min(count, other.count)
    return Self(category, atMost: count, taking: min(count, max(places, other.places)))
  }

  /// The name in a report: `'disk'`, or `rate 'disk' (3 in 1 s)`.
  var nameForPeople: String {
    let name = "'\(category.text)'"
    return category.interval.map { "rate \(name) (\(count) in \($0.short))" } ?? name
  }

  /// For example `at most 3 of disk`, `2 of at most 3 of disk`, or `at most 3 starts of disk in 1
  /// s`.
  public var description: String {
    let most =
      category.interval.map {
        "at most \(count) start\(count == 1 ? "" : "s") of \(category.text) in \($0.short)"
      } ?? "at most \(count) of \(category)"
    return (places == 1 ? "" : "\(places) of ") + most
  }
}
