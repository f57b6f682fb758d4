/// Names in braces that stand for values, such as `{sample}`.
enum Braces {
  /// Replaces names in braces by their values. Braces in a value stay. So does `${name}`, which
  /// belongs to the shell.
  static func filled(_ text: String, _ value: (Substring) -> String?) -> String {
    guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
    var result = ""
    // The UTF-8 view is used, since a combining mark behind a brace would form one character with
    // it.
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

  static func names(in text: String) -> [String] {
    var names: [String] = []
    _ = filled(text) { name in
      if Options.isVariable(String(name)) { names.append(String(name)) }
      return nil
    }
    return names
  }
}
