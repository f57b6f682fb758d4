import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// One version, wherever it is named.
@Suite(.hangLimit) struct VersionTests {
  private static func text(of path: String) throws -> String {
    try String(contentsOf: URL.packageRoot.appending(path: path), encoding: .utf8)
  }

  @Test("runbook --version is the newest of the change log, and its sections come in order")
  func changeLog() throws {
    let log = try Self.text(of: "CHANGELOG.md")
    let newest = try #require(log.firstMatch(of: #/\n## (\d+\.\d+\.\d+) \((.*)\)\n/#))
    #expect(Help.version == newest.1)
    #expect(newest.2 == "unreleased" || newest.2.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil)
    let order = ["Added", "Changed", "Removed", "Fixed", "Documented", "Measured"]
    let sections = log.split(separator: #/\n## /#).dropFirst()
    for section in sections {
      let titles = section.matches(of: #/\n### (.*)/#).map { String($0.1) }
      let places = titles.map { order.firstIndex(of: $0) }
      #expect(!places.contains(nil), "\(titles)")
      let known = places.compactMap(\.self)
      #expect(known == Array(Set(known)).sorted(), "\(titles)")
    }
  }

  @Test("each line of the change log begins with its area")
  func areas() throws {
    let log = try Self.text(of: "CHANGELOG.md")
    for line in log.split(separator: "\n") where line.hasPrefix("- ") {
      #expect(line.prefixMatch(of: #/- `[a-z]+:` /#) != nil, "\(line)")
    }
  }
}
