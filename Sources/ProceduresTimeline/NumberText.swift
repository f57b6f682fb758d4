extension Duration {
  /// The duration in whole nanoseconds, rounded towards zero.
  var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}

/// Formats numbers without Foundation.
enum NumberText {
  /// Returns the number with `digits` digits after the point, rounded towards zero.
  static func decimal(_ value: Int64, per unit: Int64, digits: Int) -> String {
    var fraction = ""
    var rest = value.magnitude % unit.magnitude
    for _ in 0..<digits {
      rest *= 10
      fraction += String(rest / unit.magnitude)
      rest %= unit.magnitude
    }
    let sign = value < 0 ? "-" : ""
    let whole = value.magnitude / unit.magnitude
    return digits == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(fraction)"
  }

  /// Pads it with leading zeros.
  static func padded(_ text: String, to digits: Int) -> String {
    String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }

  /// Formats for people: `1.25 s`, `320 ms`, `12.4 µs`, `80 ns`; ten minutes and more as
  /// `12 min 5 s`, `3 h 20 min`, `29 d 16 h`.
  static func time(_ nanoseconds: Int64) -> String {
    switch nanoseconds.magnitude {
    case 0: "0 s"
    case ..<1_000: "\(nanoseconds) ns"
    case ..<1_000_000: scaled(nanoseconds, 1_000) + " µs"
    case ..<1_000_000_000: scaled(nanoseconds, 1_000_000) + " ms"
    case ..<600_000_000_000: scaled(nanoseconds, 1_000_000_000) + " s"
    default: (nanoseconds < 0 ? "-" : "") + long(nanoseconds.magnitude / 1_000_000_000)
    }
  }

  /// Uses the two largest units that are not zero.
  private static func long(_ seconds: UInt64) -> String {
    let units: [(name: String, seconds: UInt64)] = [
      ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1),
    ]
    let first = units.firstIndex { seconds >= $0.seconds } ?? 3
    var (rest, parts) = (seconds, [String]())
    for unit in units[first...].prefix(2) {
      if rest >= unit.seconds { parts.append("\(rest / unit.seconds) \(unit.name)") }
      rest %= unit.seconds
    }
    return parts.joined(separator: " ")
  }

  /// Returns three significant digits, without trailing zeros.
  private static func scaled(_ value: Int64, _ unit: Int64) -> String {
    let whole = value.magnitude / unit.magnitude
    var text = decimal(value, per: unit, digits: whole >= 100 ? 0 : whole >= 10 ? 1 : 2)
    if text.contains(".") {
      while text.hasSuffix("0") { text.removeLast() }
      if text.hasSuffix(".") { text.removeLast() }
    }
    return text
  }
}
