/// A file in which a compiler says what it has read, in the form that make reads.
///
/// ```
/// main.o: main.c my\ header.h \
///   list.h
/// list.h:
/// ```
enum DependencyFile {
  /// The files behind the colons, each once, in order; nil when that is not the form.
  static func files(in bytes: [UInt8]) -> [String]? {
    var files: [String] = []
    var known: Set<String> = []
    for rule in rules(String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")) {
      guard let colon = rule.firstIndex(where: { $0.hasSuffix(":") }) else { return nil }
      for file in rule[(colon + 1)...] where known.insert(file).inserted { files.append(file) }
    }
    return files
  }

  /// The words of each rule. A colon stays at the end of its word.
  private static func rules(_ text: String) -> [[String]] {
    var rules: [[String]] = []
    var words: [String] = []
    var word = ""
    func endWord() {
      if !word.isEmpty { words.append(word) }
      word = ""
    }
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch (scalar, rest.first) {
      case ("\\", "\n"?):
        rest.removeFirst()
        endWord()
      case ("\\", " "?), ("\\", "#"?), ("\\", "\\"?), ("$", "$"?):
        word.unicodeScalars.append(rest.removeFirst())
      case (" ", _), ("\t", _):
        endWord()
      case ("\n", _):
        endWord()
        if !words.isEmpty { rules.append(words) }
        words = []
      default:
        word.unicodeScalars.append(scalar)
      }
    }
    endWord()
    return words.isEmpty ? rules : rules + [words]
  }
}
