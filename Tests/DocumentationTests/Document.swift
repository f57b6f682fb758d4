import Foundation
import Testing

/// One of the package's Markdown files.
struct Document: CustomTestStringConvertible {
  /// Relative to the root of the package.
  let path: String
  let text: String

  var testDescription: String { path }

  /// The root of the package, as seen from this file.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// README.md, CHANGELOG.md and everything below Documentation.
  static let all: [Document] = {
    let folder = root.appending(path: "Documentation").path
    let paths = (FileManager.default.enumerator(atPath: folder)?.allObjects ?? [])
      .compactMap { $0 as? String }
      .filter { $0.hasSuffix(".md") }
      .map { "Documentation/\($0)" }
    return (["README.md", "CHANGELOG.md"] + paths.sorted()).compactMap { path in
      let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
      return text.map { Document(path: path, text: $0) }
    }
  }()

  /// The fenced blocks of a language, without indentation.
  func blocks(of language: String) -> [String] {
    var blocks: [String] = []
    var fence: String?
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let words = line.trimmingCharacters(in: .whitespaces)
      if words.hasPrefix("```") {
        if fence == language { blocks.append(Listing.withoutIndentation(lines)) }
        fence = fence == nil ? String(words.dropFirst(3)) : nil
        lines = []
      } else {
        lines.append(line)
      }
    }
    return blocks
  }

  /// The targets of links to files of the package, without the part after `#`.
  var linkedPaths: [String] {
    text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
      .filter { !$0.contains("://") && !$0.hasPrefix("#") }
      .map { String($0.prefix { $0 != "#" }) }
  }
}
