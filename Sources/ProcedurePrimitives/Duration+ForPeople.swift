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
}
