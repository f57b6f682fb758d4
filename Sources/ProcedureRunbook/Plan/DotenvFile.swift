/// Variables from a file that other tools read too.
///
/// ```
/// # a comment
/// export HOST=example.org   # another one
/// TOKEN='as it is'
/// GREETING="two lines\nof text"
/// ```
///
/// Values are not expanded: a `$` stays.
struct DotenvFile {
  /// Scalars, since a combining mark behind a quote or `=` would form one character with it.
  private typealias Text = Substring.UnicodeScalarView

  let variables: [String: String]

  /// A line that is not valid.
  struct BadLine: Error {
    let line: Int
  }

  init(_ bytes: [UInt8]) throws(BadLine) {
    var variables: [String: String] = [:]
    let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      var rest = Self.trimmed(line)
      guard let first = rest.first, first != "#" else { continue }
      if rest.starts(with: "export ".unicodeScalars) { rest = Self.trimmed(rest.dropFirst(7)) }
      guard let sign = rest.firstIndex(of: "="),
        Options.isVariable(String(Self.trimmed(rest[..<sign]))),
        let value = Self.value(Self.trimmed(rest[rest.index(after: sign)...])),
        !value.utf8.contains(0)
      else { throw BadLine(line: index + 1) }
      variables[String(Self.trimmed(rest[..<sign]))] = value
    }
    self.variables = variables
  }

  /// Returns nil if a quote is not closed, or if anything but a comment follows it.
  private static func value(_ text: Text) -> String? {
    guard let quote = text.first, quote == "'" || quote == "\"" else {
      // A comment begins after a space.
      let end = text.indices.first {
        text[$0] == "#" && ($0 == text.startIndex || isSpace(text, before: $0))
      }
      return String(trimmed(text[..<(end ?? text.endIndex)]))
    }
    var value = ""
    var rest = text.dropFirst()
    while let letter = rest.popFirst() {
      if letter == quote {
        rest = trimmed(rest)
        return rest.isEmpty || rest.first == "#" ? value : nil
      }
      if letter == "\\", quote == "\"", let next = rest.popFirst() {
        value += escape(next)
      } else {
        value.unicodeScalars.append(letter)
      }
    }
    return nil
  }

  private static func escape(_ letter: Unicode.Scalar) -> String {
    switch letter {
    case "n": "\n"
    case "r": "\r"
    case "t": "\t"
    case "\"", "\\", "$", "`": String(letter)
    default: "\\\(letter)"
    }
  }

  private static func isSpace(_ text: Text, before index: Text.Index) -> Bool {
    text[text.index(before: index)].properties.isWhitespace
  }

  private static func trimmed(_ text: Text) -> Text {
    var text = text.drop { $0.properties.isWhitespace }
    while text.last?.properties.isWhitespace == true { text.removeLast() }
    return text
  }
}
