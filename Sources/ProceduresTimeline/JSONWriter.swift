/// Writes JSON text that can also stand in a script element of an HTML page.
struct JSONWriter {
  private(set) var text = ""

  mutating func raw(_ string: String) { text += string }

  mutating func number(_ number: Int) { text += String(number) }

  /// Writes a string in quotes. `<`, `>` and `&` are escaped too, so that no text ends a script or
  /// begins a tag.
  mutating func string(_ string: String) {
    text += "\""
    if string.utf8.allSatisfy(Self.isPlain) {
      text += string
    } else {
      for scalar in string.unicodeScalars {
        if scalar.value < 128, Self.isPlain(UInt8(scalar.value)) {
          text.unicodeScalars.append(scalar)
        } else {
          escape(scalar)
        }
      }
    }
    text += "\""
  }

  /// Writes `"key":"value",`, without the comma if it is the last member.
  mutating func member(_ key: String, _ value: String, isLast: Bool = false) {
    string(key)
    text += ":"
    string(value)
    if !isLast { text += "," }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x26, 0x3c, 0x3e, 0x5c: false
    case 0x20...0x7e: true
    default: false
    }
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x0a: text += "\\n"
    case 0x22: text += "\\\""
    case 0x5c: text += "\\\\"
    case ..<0x20, 0x26, 0x3c, 0x3e, 0x7f, 0x2028, 0x2029:
      text += "\\u" + NumberText.padded(String(scalar.value, radix: 16), to: 4)
    default: text.unicodeScalars.append(scalar)
    }
  }
}
