/// Variables from a file that other tools read too.
///
/// ```
/// # a comment
/// export HOST=example.org   # another one
/// TOKEN='as it is'
/// GREETING="two lines\nof text"
/// ```
///
/// Nothing is expanded: a `$` is a `$`.
struct DotenvFile {
  let variables: [String: String]

  /// A line that is none.
  struct BadLine: Error {
    let line: Int
  }

  init(_ bytes: [UInt8]) throws(BadLine) {
    var variables: [String: String] = [:]
    let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      var rest = Self.trimmed(line)
      guard !rest.isEmpty, !rest.hasPrefix("#") else { continue }
      if rest.hasPrefix("export ") { rest = Self.trimmed(rest.dropFirst(7)) }
      guard let sign = rest.firstIndex(of: "="),
        Options.isVariable(String(Self.trimmed(rest[..<sign]))),
        let value = Self.value(Self.trimmed(rest[rest.index(after: sign)...])),
        !value.utf8.contains(0)
      else { throw BadLine(line: index + 1) }
      variables[String(Self.trimmed(rest[..<sign]))] = value
    }
    self.variables = variables
  }

  /// nil when a quote does not end, or something else than a comment follows it.
  private static func value(_ text: Substring) -> String? {
    guard let quote = text.first, quote == "'" || quote == "\"" else {
      // A comment begins behind a space.
      let end = text.indices.first {
        text[$0] == "#" && ($0 == text.startIndex || isSpace(text, before: $0))
      }
      return String(trimmed(text[..<(end ?? text.endIndex)]))
    }
    var value = ""
    var rest = text.dropFirst()
    while let character = rest.popFirst() {
      if character == quote {
        rest = trimmed(rest)
        return rest.isEmpty || rest.hasPrefix("#") ? value : nil
      }
      if character == "\\", quote == "\"", let next = rest.popFirst() {
        value += escape(next)
      } else {
        value.append(character)
      }
    }
    return nil
  }

  private static func escape(_ character: Character) -> String {
    switch character {
    case "n": "\n"
    case "r": "\r"
    case "t": "\t"
    case "\"", "\\", "$", "`": String(character)
    default: "\\\(character)"
    }
  }

  private static func isSpace(_ text: Substring, before index: Substring.Index) -> Bool {
    text[text.index(before: index)].isWhitespace
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0.isWhitespace }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
