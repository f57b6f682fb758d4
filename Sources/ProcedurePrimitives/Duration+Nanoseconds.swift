extension Duration {
  /// Whole nanoseconds, rounded up; zero for a negative duration, saturated at about 146 years.
  public var nanosecondsRoundedUp: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds >= 4_611_686_018 { return Self.farthest }
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return UInt64(seconds) * 1_000_000_000 + UInt64(whole) + (rest == 0 ? 0 : 1)
  }

  /// Whole nanoseconds, rounded down, within the same bounds.
  public var nanosecondsRoundedDown: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds >= 4_611_686_018 { return Self.farthest }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  private static var farthest: UInt64 { 4_611_686_018 * 1_000_000_000 }
}
