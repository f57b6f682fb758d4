/// Arithmetic that saturates at the bounds of `Duration` instead of trapping.
///
/// Use it for every duration that comes from a user: `Duration(attoseconds: .max)` is a duration
/// too, and one longer than the machine lasts needs no exact end.
extension Duration {
  /// The longest duration, some 5 × 10¹² years.
  public static var longest: Duration { Duration(attoseconds: .max) }

  /// The most negative duration.
  public static var shortest: Duration { Duration(attoseconds: .min) }

  /// `seconds` seconds, as exact as `Duration.seconds`, or the nearest bound; zero if `seconds` is
  /// not a number.
  public static func saturating(seconds: Double) -> Duration {
    // Some 5 × 10¹² years.
    let limit = 1.7e20
    if seconds.isNaN { return .zero }
    if abs(seconds) < limit { return .seconds(seconds) }
    return seconds < 0 ? .shortest : .longest
  }

  /// The sum, or the bound that it would exceed.
  public func saturatingAdding(_ other: Duration) -> Duration {
    let (sum, overflow) = attoseconds.addingReportingOverflow(other.attoseconds)
    guard overflow else { return Duration(attoseconds: sum) }
    return other < .zero ? .shortest : .longest
  }

  /// The difference, or the bound that it would exceed.
  public func saturatingSubtracting(_ other: Duration) -> Duration {
    let (difference, overflow) = attoseconds.subtractingReportingOverflow(other.attoseconds)
    guard overflow else { return Duration(attoseconds: difference) }
    return other < .zero ? .longest : .shortest
  }

  /// The product, or the bound that it would exceed; zero if `factor` is not a number.
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
  /// An instant counts from some moment in the machine's past, and has no bounds of its own.
  private static var farthest: Duration { .seconds(Int64.max) }

  /// This instant advanced by `duration`, or by the largest possible part of it.
  ///
  /// This instant must be near one that a clock has shown.
  public func saturatingAdvanced(by duration: Duration) -> Self {
    advanced(
      by: min(max(duration, Duration.zero.saturatingSubtracting(Self.farthest)), Self.farthest))
  }

  /// How long after `earlier` this instant is; zero if it is not after it.
  ///
  /// `earlier` must be an instant that a clock has shown; this instant may be any.
  public func durationSince(_ earlier: Self) -> Duration {
    self > earlier ? earlier.duration(to: self) : .zero
  }
}
