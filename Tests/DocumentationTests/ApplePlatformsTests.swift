import Foundation
import ProcedureTestSupport
import Testing

/// The page about Apple's platforms names each file in which the platform decides what is compiled.
@Suite struct ApplePlatformsTests {
  private static let sources = URL.packageRoot.appending(path: "Sources")

  /// How many lines of each file ask for a platform, or for a module that only some have.
  private static let branches: [String: Int] = {
    let paths = FileManager.default.enumerator(atPath: sources.path)?.allObjects ?? []
    var counts: [String: Int] = [:]
    for case let path as String in paths where path.hasSuffix(".swift") {
      let text = try? String(contentsOf: sources.appending(path: path), encoding: .utf8)
      let count = (text ?? "").split(separator: "\n").count { line in
        let line = line.drop { $0 == " " }
        return (line.hasPrefix("#if") || line.hasPrefix("#elseif"))
          && (line.contains("canImport(") || line.contains("os("))
      }
      if count > 0 { counts[path] = count }
    }
    return counts
  }()

  @Test(
    "each file with a branch for a platform is on the page about Apple's platforms, and no other")
  func list() throws {
    let page = try #require(
      Document.all.first { $0.path == "Documentation/ApplePlatforms.md" })
    var listed: [String: Int] = [:]
    for match in page.text.matches(of: /(?m)^\| `([^`]+\.swift)` \| (\d+) \|/) {
      listed[String(match.1)] = Int(match.2)
    }
    #expect(Self.branches.count > 40)
    for path in Set(Self.branches.keys).union(listed.keys).sorted() {
      #expect(Self.branches[path] == listed[path], "\(path)")
    }
  }

  @Test("the workflow runs all checks on both systems, with the toolchain of this one")
  func workflow() throws {
    let text = try String(
      contentsOf: URL.packageRoot.appending(path: ".github/workflows/ci.yml"), encoding: .utf8)
    #expect(text.matches(of: /- run: \.ci\/run\n/).count == 2)
    #expect(text.contains("container: swift:6.3.1-") && text.contains("runs-on: macos-"))
  }
}
