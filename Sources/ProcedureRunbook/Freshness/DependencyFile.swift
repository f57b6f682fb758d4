import ProceduresProcess

/// A file in which a compiler lists the files that it has read, in the syntax of make.
///
/// ```
/// main.o: main.c my\ header.h \
///   list.h
/// list.h:
/// ```
///
/// Names are bytes. `\ `, `\#`, `\:`, `\\`, a tab behind a backslash, and `$$` are escapes. A `#`
/// at the start of a word begins a comment; within a name it is a letter, as some compilers have it.
enum DependencyFile {
  /// Returns the files behind the colons, each once, in order; nil if the syntax is wrong.
  static func files(in bytes: [UInt8]) -> [FilePath]? {
    var files: [FilePath] = []
    var known: Set<FilePath> = []
    var word: [UInt8] = []
    // Whether the current rule has had a word, and a colon.
    var (hasWord, hasColon) = (false, false)
    func endWord(endsInColon: Bool = false) {
      guard !word.isEmpty || endsInColon else { return }
      defer { word.removeAll(keepingCapacity: true) }
      // What follows it gives only an order for make; it was read all the same.
      if hasColon, !endsInColon, word == [bar] { return }
      hasWord = true
      if hasColon {
        if endsInColon { word.append(colon) }
        let file = FilePath(word)
        if known.insert(file).inserted { files.append(file) }
      } else {
        hasColon = endsInColon
      }
    }
    var index = 0
    func byte(_ offset: Int) -> UInt8? {
      index + offset < bytes.count ? bytes[index + offset] : nil
    }
    while let current = byte(0) {
      switch current {
      case backslash where byte(1) == lineFeed:
        index += 1
        endWord()
      case backslash where byte(1) == carriageReturn && byte(2) == lineFeed:
        index += 2
        endWord()
      case backslash where byte(1).map(escaped.contains) ?? false,
        dollar where byte(1) == dollar:
        index += 1
        word.append(bytes[index])
      case space, tab: endWord()
      case carriageReturn where byte(1) == lineFeed: break
      case lineFeed:
        endWord()
        if hasWord, !hasColon { return nil }
        (hasWord, hasColon) = (false, false)
      case hash where word.isEmpty:
        // It ends before the end of its line, which may be continued.
        while let next = byte(1), next != lineFeed || bytes[index] == backslash { index += 1 }
      case colon where !hasColon && !(word.count == 1 && isDrive(byte(1), byte(2))):
        endWord(endsInColon: true)
        if byte(1) == colon { index += 1 }
      case colon where byte(1).map { $0 == space || $0 == tab || $0 == lineFeed } ?? true,
        colon where byte(1) == carriageReturn || byte(1) == backslash && byte(2) == lineFeed:
        endWord(endsInColon: true)
      default: word.append(current)
      }
      index += 1
    }
    endWord()
    return hasWord && !hasColon ? nil : files
  }

  /// Whether a colon with these bytes behind it belongs to a name, `c:\main.o`.
  private static func isDrive(_ next: UInt8?, _ second: UInt8?) -> Bool {
    next == backslash && second != lineFeed && second != carriageReturn
  }

  private static let backslash = UInt8(ascii: "\\")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let space = UInt8(ascii: " ")
  private static let tab = UInt8(ascii: "\t")
  private static let dollar = UInt8(ascii: "$")
  private static let colon = UInt8(ascii: ":")
  private static let hash = UInt8(ascii: "#")
  private static let bar = UInt8(ascii: "|")
  private static let escaped = Array(" \t#\\:".utf8)
}
