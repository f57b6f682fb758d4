import Foundation
import ProcedureTestSupport
import Testing

/// One of the package's Markdown files.
struct Document: CustomTestStringConvertible {
  /// Relative to the root of the package.
  let path: String
  let text: String

  var testDescription: String { path }

  /// README.md, CHANGELOG.md, everything below Documentation, and the catalogs of the libraries.
  static let all: [Document] = {
    let folder = URL.packageRoot.appending(path: "Documentation").path
    let paths = (FileManager.default.enumerator(atPath: folder)?.allObjects ?? [])
      .compactMap { $0 as? String }
      .filter { $0.hasSuffix(".md") }
      .map { "Documentation/\($0)" }
    return (["README.md", "CHANGELOG.md"] + paths.sorted() + catalogPaths).compactMap { path in
      let text = try? String(contentsOf: URL.packageRoot.appending(path: path), encoding: .utf8)
      return text.map { Document(path: path, text: $0) }
    }
  }()

  /// The pages of the catalogs of DocC: those of a module, and its articles.
  private static var catalogPaths: [String] {
    let sources = URL.packageRoot.appending(path: "Sources").path
    return (FileManager.default.enumerator(atPath: sources)?.allObjects ?? [])
      .compactMap { $0 as? String }
      .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }
      .map { "Sources/\($0)" }.sorted()
  }

  /// Of a page in a catalog, the name of its module.
  var module: String? {
    path.wholeMatch(of: #/Sources/(\w+)/\w+\.docc/.*/#).map { String($0.1) }
  }

  /// Whether it is an article of a catalog, and not the page of the module, or the topics of a
  /// type.
  var isArticle: Bool {
    guard let module else { return false }
    return !path.hasSuffix("/\(module).md") && !path.contains("/Extensions/")
  }

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
      .filter { !$0.contains("://") && !$0.hasPrefix("#") && !$0.hasPrefix("doc:") }
      .map { String($0.prefix { $0 != "#" }) }
  }
}
