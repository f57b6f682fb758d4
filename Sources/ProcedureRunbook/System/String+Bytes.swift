extension String {
  /// Replaces each such scalar, even if it forms one character with a combining mark: shells, file
  /// systems and other programs see the scalar.
  func replacing(scalar letter: Unicode.Scalar, with text: String) -> String {
    var result = UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar == letter {
        result.append(contentsOf: text.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  /// The lines that are not empty. They are cut between scalars, since `\r\n` is one character, in
  /// which `\n` is not found.
  var filledLines: [Substring] {
    unicodeScalars.split { $0 == "\n" || $0 == "\r" }.map { Substring($0) }
  }

  /// The text as one word of a shell command.
  var shellWord: String { "'" + replacing(scalar: "'", with: "'\\''") + "'" }
}
