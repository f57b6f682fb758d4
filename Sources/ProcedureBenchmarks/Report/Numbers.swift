extension Int {
  /// With commas: 1,000,000.
  var grouped: String {
    var text = ""
    for (index, digit) in String(magnitude).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }
}

extension Double {
  /// Three digits that count, or all before the point.
  var short: String {
    switch magnitude {
    case ..<9.995: fixed(2)
    case ..<99.95: fixed(1)
    default: Int(rounded()).grouped
    }
  }

  /// A part as whole percents.
  var percent: String { "\(Int((self * 100).rounded())) %" }

  /// With that many digits after the point.
  func fixed(_ digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let number = Int((magnitude * Double(scale)).rounded())
    let part = String(number % scale)
    let text =
      number / scale == 0 && number % scale == 0 && digits > 0
      ? "0" : (self < 0 ? "-" : "") + (number / scale).grouped
    guard digits > 0 else { return text }
    return text + "." + String(repeating: "0", count: digits - part.count) + part
  }
}

extension String {
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  func padded(from width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }
}
