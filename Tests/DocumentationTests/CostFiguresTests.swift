import Foundation
import ProcedureTestSupport
import Testing

/// Figures in documents that `.ci/cost` counts are those of its table, but for a tenth, which runs
/// differ by.
@Suite(.hangLimit) struct CostFiguresTests {
  /// Rows of the form `| … | `case` | instructions | atomic operations |`.
  private static func rows(of document: Document) -> [(name: String, figures: [Int])] {
    document.text.components(separatedBy: "\n").compactMap { line in
      // A regular expression takes long to find nothing.
      guard line.hasPrefix("|"),
        let row = line.wholeMatch(of: /\|.*\| `([a-z-]+)` \| ([0-9,]+) \| (\d+) \|/)
      else { return nil }
      let figures = [row.2, row.3].compactMap { Int($0.filter { $0 != "," }) }
      return (String(row.1), figures)
    }
  }

  private static func isNear(_ figure: Int, _ counted: Int) -> Bool {
    abs(figure - counted) * 10 <= max(counted, 20)
  }

  /// The figures of each case in the table.
  private static let counted: [String: [Int]] = {
    let table = try? String(
      contentsOf: URL.packageRoot.appending(path: ".ci/costs/table"), encoding: .utf8)
    var counted: [String: [Int]] = [:]
    for line in (table ?? "").split(separator: "\n") {
      let words = line.split(separator: " ")
      counted[String(words[0])] = words.dropFirst().compactMap { Int($0) }
    }
    return counted
  }()

  @Test("figures that name a case of .ci/costs are those of its table", arguments: Document.all)
  func figures(document: Document) throws {
    let rows = Self.rows(of: document)
    for row in rows {
      let known = try #require(Self.counted[row.name], "\(row.name)")
      let areNear = zip(row.figures, known).allSatisfy(Self.isNear)
      #expect(areNear, "\(row.name): \(row.figures), counted \(known)")
    }
    if document.path.hasSuffix("/ComingFromTasks.md") {
      #expect(rows.count == 5)
    }
  }
}
