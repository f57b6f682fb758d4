/// Names in braces that stand for values, as `{sample}`.
enum Braces {
  /// The text with the values, each put in as it is: braces in a value stand for themselves. `${name}` is the shell's,
  /// and stays.
  static func filled(_ text: String, _ value: (Substring) -> String?) -> String {
    guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
    var result = ""
    // A letter after a brace may be one with it for a reader, and is none for a file system.
    var rest = text[...]
    while let brace = rest.utf8.firstIndex(of: UInt8(ascii: "{")) {
      let head = rest[..<brace]
      result += head
      let behind = rest.utf8.index(after: brace)
      if head.utf8.last != UInt8(ascii: "$"),
        let end = rest[behind...].utf8.firstIndex(of: UInt8(ascii: "}")),
        let value = value(rest[behind..<end])
      {
        result += value
        rest = rest[rest.utf8.index(after: end)...]
      } else {
        result += "{"
        rest = rest[behind...]
      }
    }
    return result + rest
  }

  /// The names of variables that stand in braces.
  static func names(in text: String) -> [String] {
    var names: [String] = []
    _ = filled(text) { name in
      if Options.isVariable(String(name)) { names.append(String(name)) }
      return nil
    }
    return names
  }
}
