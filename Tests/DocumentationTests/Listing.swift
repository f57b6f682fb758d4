import Foundation

/// A piece of these tests that a document shows: what is between `// listing: name` and `// end`.
///
/// Pieces of one file with the same name are one listing, with an empty line between them: so a
/// type at the head of the file and the code that uses it, inside a test, can be shown together.
struct Listing {
  let name: String
  let text: String

  /// The listings of a source file, in the order in which their names come first.
  static func all(in source: String) -> [Listing] {
    var names: [String] = []
    var pieces: [String: [String]] = [:]
    var current: (name: String, lines: [String])?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let words = line.trimmingCharacters(in: .whitespaces)
      if words.hasPrefix("// listing: ") {
        current = (String(words.dropFirst("// listing: ".count)), [])
      } else if words == "// end", let piece = current {
        if pieces[piece.name] == nil { names.append(piece.name) }
        pieces[piece.name, default: []].append(withoutIndentation(piece.lines))
        current = nil
      } else {
        current?.lines.append(line)
      }
    }
    return names.map { Listing(name: $0, text: (pieces[$0] ?? []).joined(separator: "\n\n")) }
  }

  /// Removes the indentation that all lines share, and empty lines at both ends.
  static func withoutIndentation(_ lines: [String]) -> String {
    let widths = lines.filter { !$0.isBlank }.map { $0.prefix { $0 == " " }.count }
    let shared = widths.min() ?? 0
    var lines = lines.map { $0.isBlank ? "" : String($0.dropFirst(shared)) }
    while lines.first == "" { lines.removeFirst() }
    while lines.last == "" { lines.removeLast() }
    return lines.joined(separator: "\n")
  }
}

extension String {
  fileprivate var isBlank: Bool { allSatisfy(\.isWhitespace) }
}
