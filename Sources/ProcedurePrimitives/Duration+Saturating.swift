/// Arithmetic whose results stay within what a `Duration` can hold, instead of stopping the program.
///
/// Every duration of a user goes through these before it meets another: `Duration(attoseconds: .max)`
/// is a duration too, and a duration longer than the machine lasts needs no exact end.
extension Duration {
  /// The longest there is: some 5 × 10¹² years.
  public static var longest: Duration { Duration(attoseconds: .max) }

  /// The most negative there is.
  public static var shortest: Duration { Duration(attoseconds: .min) }

  /// So many seconds, as exactly as `Duration.seconds`, or the bound; zero if it is not a number.
  public static func saturating(seconds: Double) -> Duration {
    // Some 5 × 10¹² years.
    let limit = 1.7e20
    if seconds.isNaN { return .zero }
    if abs(seconds) < limit { return .seconds(seconds) }
    return seconds < 0 ? .shortest : .longest
  }

  /// The sum, or the bound that it would lie beyond.
  public func saturatingAdding(_ other: Duration) -> Duration {
    let (sum, overflow) = attoseconds.addingReportingOverflow(other.attoseconds)
    guard overflow else { return Duration(attoseconds: sum) }
    return other < .zero ? .shortest : .longest
  }

  /// The difference, or the bound that it would lie beyond.
  public func saturatingSubtracting(_ other: Duration) -> Duration {
    let (difference, overflow) = attoseconds.subtractingReportingOverflow(other.attoseconds)
    guard overflow else { return Duration(attoseconds: difference) }
    return other < .zero ? .longest : .shortest
  }

  /// The product, or the bound that it would lie beyond; zero if `factor` is not a number.
  public func saturatingMultiplied(by factor: Double) -> Duration {
    let product = Double(attoseconds) * factor
    if product.isNaN { return .zero }
    guard let whole = Int128(exactly: product.rounded(.towardZero)) else {
      return product < 0 ? .shortest : .longest
    }
    return Duration(attoseconds: whole)
  }
}

extension ContinuousClock.Instant {
  /// The bound of a duration before it is added to an instant: some 290 × 10⁹ years.
  ///
  /// An instant is a time since some moment in the machine's past, and has no other bounds to look at.
  private static var farthest: Duration { .seconds(Int64.max) }

  /// This instant, moved by as much of `duration` as an instant can be moved.
  ///
  /// A clock has shown this instant, or one near it.
  public func saturatingAdvanced(by duration: Duration) -> Self {
    advanced(
      by: min(max(duration, Duration.zero.saturatingSubtracting(Self.farthest)), Self.farthest))
  }

  /// How long after `earlier` this instant is; zero if it is not after it.
  ///
  /// A clock has shown `earlier`; this instant may be any.
  public func durationSince(_ earlier: Self) -> Duration {
    self > earlier ? earlier.duration(to: self) : .zero
  }
}
