extension String {
  /// Replaces control characters: `␛` for escape, `␊` for a line feed, and `�` for characters
  /// without a picture and for marks that change the direction of text.
  var visible: String {
    guard unicodeScalars.contains(where: \.isInvisible) else { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      text.append(scalar.isInvisible ? scalar.picture : scalar)
    }
    return String(text)
  }

  /// A line of output for a terminal: colours stay, other terminal commands are removed, and tabs
  /// become spaces.
  var withoutTerminalCommands: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return self
    }
    var text = String.UnicodeScalarView()
    var column = 0
    var rest = unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\t":
        let width = 8 - column % 8
        text.append(contentsOf: repeatElement(" ", count: width))
        column += width
      case "\u{1B}":
        text.append(contentsOf: Self.colour(takenFrom: &rest))
      default:
        if scalar.properties.generalCategory == .control { continue }
        text.append(scalar)
        column += scalar.columns
      }
    }
    return String(text)
  }

  /// Takes the sequence behind an escape character: returns it if it sets a colour, and drops it if
  /// not.
  private static func colour(
    takenFrom rest: inout Substring.UnicodeScalarView
  ) -> String.UnicodeScalarView {
    guard rest.first == "[" else { return String.UnicodeScalarView() }
    var sequence = String.UnicodeScalarView("\u{1B}".unicodeScalars)
    while let scalar = rest.popFirst() {
      sequence.append(scalar)
      if scalar == "[" { continue }
      if ("@"..."~").contains(scalar) { return scalar == "m" ? sequence : .init() }
    }
    return .init()
  }
}

extension Unicode.Scalar {
  fileprivate var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    }
  }

  fileprivate var picture: Unicode.Scalar {
    switch value {
    case 0..<0x20: Unicode.Scalar(0x2400 + value) ?? "\u{FFFD}"
    case 0x7F: "\u{2421}"
    default: "\u{FFFD}"
    }
  }
}
