enum JSONText {
  static func object(_ members: [(key: String, value: String?)], separator: String = ", ") -> String
  {
    let texts = members.compactMap { key, value in value.map { "\(string(key)): \($0)" } }
    return "{\(texts.joined(separator: separator))}"
  }

  static func string(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case ..<" ", "\u{7F}":
        let code = String(scalar.value + 0x1_0000, radix: 16).dropFirst()
        result += "\\u\(code)"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// The time in seconds, to the millisecond.
  static func seconds(_ duration: Duration) -> String {
    let milliseconds = Int(duration / .milliseconds(1))
    return "\(milliseconds / 1000).\(String(milliseconds % 1000 + 1000).dropFirst())"
  }
}
