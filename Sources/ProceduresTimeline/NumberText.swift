extension Duration {
  /// Whole nanoseconds, towards zero.
  var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}

/// Numbers as text, without Foundation.
enum NumberText {
  /// With so many digits after the point, rounded towards zero.
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

  /// For people: `1.25 s`, `320 ms`, `12.4 µs`, `80 ns`.
  static func time(_ nanoseconds: Int64) -> String {
    switch nanoseconds.magnitude {
    case 0: "0 s"
    case ..<1_000: "\(nanoseconds) ns"
    case ..<1_000_000: scaled(nanoseconds, 1_000) + " µs"
    case ..<1_000_000_000: scaled(nanoseconds, 1_000_000) + " ms"
    default: scaled(nanoseconds, 1_000_000_000) + " s"
    }
  }

  /// Three digits that count, and no zeros at the end.
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
