extension Duration {
  /// The duration in words: `20 milliseconds`, `1.5 seconds`, `10 seconds`, `3 minutes`.
  package var forPeople: String {
    let milliseconds = Int128(max(self, .zero).nanosecondsRoundedDown) / 1_000_000
    let seconds = (milliseconds + 500) / 1_000
    switch milliseconds {
    case ..<950: return Self.count(max(milliseconds, 1), "millisecond")
    case ..<9_950:
      let tenths = (milliseconds + 50) / 100
      return tenths % 10 == 0
        ? Self.count(tenths / 10, "second") : "\(tenths / 10).\(tenths % 10) seconds"
    case ..<120_000: return Self.count(seconds, "second")
    case ..<7_200_000: return Self.count((seconds + 30) / 60, "minute")
    case ..<172_800_000: return Self.count((seconds + 1_800) / 3_600, "hour")
    default: return Self.count((seconds + 43_200) / 86_400, "day")
    }
  }

  private static func count(_ count: Int128, _ unit: String) -> String {
    "\(count) \(unit)\(count == 1 ? "" : "s")"
  }

  /// The length in the largest unit in which it is at least 1, such as `1.5 s`.
  package var short: String {
    // Not `components`, which traps if the seconds exceed an Int64.
    let length = attoseconds.magnitude
    let nanosecond: UInt128 = 1_000_000_000
    let sign = attoseconds < 0 ? "-" : ""
    for (name, unit) in [("s", 1_000_000), ("ms", 1_000), ("µs", 1)] as [(String, UInt128)] {
      let thousandths = length / (unit * nanosecond)
      if thousandths >= 1_000 { return "\(sign)\(Self.decimal(thousandths)) \(name)" }
    }
    return length == 0 ? "0 s" : "\(sign)\(length / nanosecond) ns"
  }

  /// Formats thousandths as a decimal number, without trailing zeros.
  private static func decimal(_ thousandths: UInt128) -> String {
    let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1_000)
    guard rest > 0 else { return "\(whole)" }
    var digits = String("\(1_000 + rest)".dropFirst())
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(whole).\(digits)"
  }
}
