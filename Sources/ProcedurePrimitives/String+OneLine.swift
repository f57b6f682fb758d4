/// Names come from users, and may contain any character. Texts for people show them with these.
extension String {
  /// The text on one line: line breaks, control characters and marks that change the direction of
  /// text are shown escaped, as `\n` and `\u{1b}`. All else stays.
  ///
  /// - Complexity: one scan of the bytes if there is nothing to escape.
  package var onOneLine: String {
    guard utf8.contains(where: \.mayBeginSteering), unicodeScalars.contains(where: \.steersText)
    else { return self }
    var line = ""
    for scalar in unicodeScalars {
      if scalar.steersText {
        line += scalar.escape
      } else {
        line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  /// The text on one line, as a part of a label in quotes of a Mermaid flowchart.
  package var mermaidLabel: String {
    var label = ""
    for scalar in onOneLine.unicodeScalars {
      switch scalar {
      case "\"": label += "#quot;"
      case "#": label += "#35;"
      case "&": label += "#amp;"
      case "<": label += "#lt;"
      case ">": label += "#gt;"
      default: label.unicodeScalars.append(scalar)
      }
    }
    return label
  }
}

extension UInt8 {
  /// Whether a scalar that steers text may begin with this byte of UTF-8.
  fileprivate var mayBeginSteering: Bool {
    switch self {
    case 0..<0x20, 0x7F, 0xC2, 0xD8, 0xE2: true
    default: false
    }
  }
}

extension Unicode.Scalar {
  /// Whether it breaks the line, controls the terminal, or changes the direction of the text.
  fileprivate var steersText: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }

  fileprivate var escape: String {
    switch self {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(value, radix: 16))}"
    }
  }
}
