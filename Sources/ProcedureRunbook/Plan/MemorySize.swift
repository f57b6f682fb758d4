/// A number of bytes in the usual notation: `512M`, `1.5G`. K is 1,024 bytes, M 1,024 K.
struct MemorySize: Equatable, CustomStringConvertible {
  let bytes: Int

  private static let units: [(letter: Character, bytes: Int)] = [
    ("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10),
  ]

  init(bytes: Int) { self.bytes = bytes }

  /// Reads a positive number with one of the letters K, M, G and T; nil for other texts.
  init?(_ text: String) {
    let letter = text.last?.uppercased()
    guard let unit = Self.units.first(where: { String($0.letter) == letter }) else { return nil }
    let digits = text.dropLast()
    guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
      let number = Double(digits), number > 0,
      let bytes = Int(exactly: (number * Double(unit.bytes)).rounded()), bytes < 1 << 60
    else { return nil }
    self.bytes = max(1, bytes)
  }

  /// Written in the largest unit in which it is a whole number.
  var description: String {
    let unit = Self.units.first { bytes.isMultiple(of: $0.bytes) }
    return unit.map { "\(bytes / $0.bytes)\($0.letter)" } ?? "\(bytes)"
  }
}
