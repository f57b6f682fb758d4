import Foundation
import ProcedureTestSupport

/// `Documentation/Architecture.md`, as far as it speaks of files and of what is in them.
///
/// Its notation is a file, a dot, and what is in it: `` `Folder/File.swift` · `function(_:)` ``, or
/// several names with commas between them. A path begins at `Sources/Procedures`, unless it begins
/// with another folder of the package.
struct ArchitecturePage {
  /// A file, and the names beside it.
  struct Reference {
    let path: String
    var names: [String] = []
  }

  let text: String

  init(_ text: String) {
    self.text = text
  }

  /// The lines under the heading, without those of the next one that is not below it.
  func section(_ heading: String) -> String {
    let depth = heading.prefix { $0 == "#" }.count
    var lines: [Substring] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let marks = line.prefix { $0 == "#" }.count
      if marks > 0, marks <= depth { isInside = line == heading }
      if isInside { lines.append(line) }
    }
    return lines.dropFirst().joined(separator: "\n")
  }

  /// The steps of each walk, by its heading.
  var walks: [(heading: String, steps: [String])] {
    var walks: [(heading: String, steps: [String])] = []
    for line in section("## Seven ways through the code").split(separator: "\n").map(String.init) {
      if line.hasPrefix("### ") {
        walks.append((line, []))
      } else if walks.isEmpty {
        continue
      } else if line.prefixMatch(of: /\d+\.\s/) != nil {
        walks[walks.count - 1].steps.append(line)
      } else if let last = walks[walks.count - 1].steps.indices.last, line.hasPrefix("   ") {
        walks[walks.count - 1].steps[last] += "\n" + line
      }
    }
    return walks
  }

  /// The first block of the page between fences.
  var drawing: String {
    let parts = text.components(separatedBy: "```\n")
    return parts.count > 2 ? parts[1] : ""
  }

  /// The rows of the first table of a section, without its head, cell by cell.
  func rows(of heading: String) -> [[String]] {
    let lines = section(heading).split(separator: "\n", omittingEmptySubsequences: false)
    let table = lines.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
    return table.dropFirst(2).map { row in
      row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// What stands between single backticks outside of fenced blocks, with what stands before each.
  static func code(in text: String) -> [(before: String, code: String)] {
    var isFenced = false
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      if line.hasPrefix("```") {
        isFenced.toggle()
        return false
      }
      return !isFenced
    }
    let parts = lines.joined(separator: "\n").split(
      separator: "`", omittingEmptySubsequences: false)
    return stride(from: 1, to: parts.count, by: 2).map { index in
      let before = parts[index - 1].split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return (before, String(parts[index]))
    }
  }

  /// The files in a text, with the names beside them.
  static func references(in text: String) -> [Reference] {
    var references: [Reference] = []
    var goesOn = false
    for (before, code) in code(in: text) {
      if code.hasSuffix(".swift") {
        references.append(Reference(path: code))
        goesOn = true
      } else if goesOn, let last = references.indices.last,
        before == (references[last].names.isEmpty ? "·" : ",")
      {
        references[last].names.append(code)
      } else {
        goesOn = false
      }
    }
    return references
  }

  /// Where a path on the page leads to; nil for what is no path. A script may have arguments.
  static func file(_ code: String) -> URL? {
    let path = String(code.prefix { $0 != " " })
    let folders = ["Sources/", "Tests/", "Documentation/", ".ci/"]
    if folders.contains(where: path.hasPrefix) { return URL.packageRoot.appending(path: path) }
    guard path.hasSuffix(".swift") else { return nil }
    return URL.packageRoot.appending(path: "Sources/Procedures").appending(path: path)
  }
}
