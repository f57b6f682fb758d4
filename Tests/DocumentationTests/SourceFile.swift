import Foundation

/// The names in a Swift file: those that it declares, and those that it uses.
///
/// It reads words, not grammar: comments and text are left out, and what follows `func`, `struct`
/// and their like is a declaration.
struct SourceFile {
  /// Functions and initialisers by their full names, such as `add(_:to:)`.
  private(set) var functions: Set<String> = []
  /// Types, properties and local values.
  private(set) var names: Set<String> = []
  /// Types that stand in no other, and that other files can use.
  private(set) var types: Set<String> = []
  /// All words that begin as types do.
  private(set) var uses: Set<String> = []

  private static let typeKeywords: Set<String> = [
    "class", "struct", "enum", "protocol", "actor", "typealias",
  ]

  init(_ text: String) {
    let words = Self.words(of: text)
    var depth = 0
    for (index, word) in words.enumerated() {
      if word == "{" { depth += 1 }
      if word == "}" { depth -= 1 }
      if word.first?.isUppercase == true { uses.insert(word) }
      guard index + 1 < words.count else { continue }
      let next = words[index + 1]
      switch word {
      case "func":
        if let name = Self.fullName(next, words[(index + 2)...]) { functions.insert(name) }
      case "init" where index == 0 || words[index - 1] != ".":
        if let name = Self.fullName("init", words[(index + 1)...]) { functions.insert(name) }
      case "var", "let":
        names.insert(next)
      case _ where Self.typeKeywords.contains(word):
        names.insert(next)
        if depth == 0, !Self.isPrivate(words[..<index]) { types.insert(next) }
      default:
        break
      }
    }
  }

  /// Whether it declares that function, type or property.
  func declares(_ name: String) -> Bool {
    name.hasSuffix(")") ? functions.contains(name) : names.contains(name)
  }

  /// Whether the modifiers at the end say that only this file knows what follows.
  private static func isPrivate(_ before: ArraySlice<String>) -> Bool {
    for word in before.reversed().prefix(6) {
      if word == "}" || word == "=" { return false }
      if word == "private" || word == "fileprivate" { return true }
    }
    return false
  }

  /// The name with its labels, from the words after it; nil if no list of parameters follows.
  private static func fullName(_ name: String, _ rest: ArraySlice<String>) -> String? {
    var labels = ""
    var depth = 0
    var isFirst = true
    var hasBegun = false
    var last = ""
    for word in rest {
      // Types of parameters may have commas of their own.
      if hasBegun, depth == 1, isFirst, word != ")" {
        labels += word + ":"
        isFirst = false
      }
      switch word {
      case "(", "[", "{", "<":
        depth += 1
        if depth == 1, word == "(" { hasBegun = true }
      case ")", "]", "}", ">":
        if last == "-" { break }
        depth -= 1
        if hasBegun, depth == 0 { return "\(name)(\(labels))" }
      case "," where depth == 1:
        isFirst = true
      case "?":
        break
      default:
        if depth == 0 { return nil }
      }
      last = word
    }
    return nil
  }

  /// Identifiers, and each other character that is no space, without comments and text.
  private static func words(of text: String) -> [String] {
    let (slash, quote) = (UInt8(ascii: "/"), UInt8(ascii: "\""))
    let (newline, space) = (UInt8(ascii: "\n"), UInt8(ascii: " "))
    // Plain loops: what is generic takes long in unoptimised code.
    let bytes = Array(text.utf8)
    let isPartOfWord = isPartOfWord
    var words: [String] = []
    var place = 0
    while place < bytes.count {
      let byte = bytes[place]
      if byte <= space {
        place += 1
      } else if isPartOfWord[Int(byte)] {
        var end = place + 1
        while end < bytes.count, isPartOfWord[Int(bytes[end])] { end += 1 }
        words.append(String(decoding: bytes[place..<end], as: UTF8.self))
        place = end
      } else if byte == slash, place + 1 < bytes.count, bytes[place + 1] == slash {
        while place < bytes.count, bytes[place] != newline { place += 1 }
      } else if byte == quote {
        place = endOfText(from: place, in: bytes)
      } else {
        words.append(String(UnicodeScalar(byte)))
        place += 1
      }
    }
    return words
  }

  /// Text on one line ends with the line, whatever is interpolated in it.
  private static func endOfText(from start: Int, in bytes: [UInt8]) -> Int {
    let quote = UInt8(ascii: "\"")
    let isLong = bytes[start...].starts(with: [quote, quote, quote])
    var place = start + (isLong ? 3 : 1)
    while place < bytes.count {
      if isLong, bytes[place...].starts(with: [quote, quote, quote]) { return place + 3 }
      if !isLong, bytes[place] == quote { return place + 1 }
      if !isLong, bytes[place] == UInt8(ascii: "\n") { return place }
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return place
  }

  /// Whether each byte is part of an identifier or a number.
  private static let isPartOfWord: [Bool] = (UInt8.min...UInt8.max).map { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
