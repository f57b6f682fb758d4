extension Duration {
  /// Whole nanoseconds, rounded up; zero for a negative duration, saturated at about 146 years.
  public var nanosecondsRoundedUp: UInt64 {
    if self <= .zero { return 0 }
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return Self.saturated(rest == 0 ? whole : whole + 1)
  }

  /// Whole nanoseconds, rounded down, within the same bounds.
  public var nanosecondsRoundedDown: UInt64 {
    self <= .zero ? 0 : Self.saturated(attoseconds / 1_000_000_000)
  }

  private static func saturated(_ nanoseconds: Int128) -> UInt64 {
    UInt64(min(nanoseconds, 4_611_686_018 * 1_000_000_000))
  }
}
