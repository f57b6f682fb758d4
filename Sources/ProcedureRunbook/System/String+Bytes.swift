extension String {
  /// With a text in the place of each such letter, also of one that is another letter for a reader, with a mark behind
  /// it: for shells, file systems and other programs it is that letter.
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

  /// One word of a shell command, whatever is in it.
  var shellWord: String { "'" + replacing(scalar: "'", with: "'\\''") + "'" }
}
