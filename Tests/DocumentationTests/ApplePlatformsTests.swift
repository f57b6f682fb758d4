import Foundation
import ProcedureTestSupport
import Testing

/// The page about Apple's platforms names each file that has code of its own for them.
@Suite(.hangLimit) struct ApplePlatformsTests {
  /// Whether a branch of `#if` asks for a platform, or for a module that only some have.
  ///
  /// A file that is wholly for systems with programs is no branch: on other systems it is not
  /// there.
  private static func asksForPlatform(_ condition: String) -> Bool {
    condition != "#if os(macOS) || os(Linux)"
      && (condition.contains("canImport(") || condition.contains("os("))
  }

  /// Whether a platform decides about more in this source than which modules are imported.
  private static func hasBranches(_ lines: [String]) -> Bool {
    var open: [(condition: String, hasCode: Bool)] = []
    for line in lines.lazy.map({ $0.drop { $0 == " " } }) where !line.isEmpty {
      if line.hasPrefix("#if") {
        open.append((String(line), false))
      } else if line.hasPrefix("#elseif"), !open.isEmpty {
        open[open.count - 1].condition += " \(line)"
      } else if line.hasPrefix("#endif"), let closed = open.popLast(), closed.hasCode {
        if asksForPlatform(closed.condition) { return true }
        if !open.isEmpty { open[open.count - 1].hasCode = true }
      } else if !open.isEmpty, !open[open.count - 1].hasCode, !line.hasPrefix("#"),
        !line.hasPrefix("//"),
        line.prefixMatch(of: #/(@\S+ )*((public|internal|package) )?(@\S+ )*import /#) == nil
      {
        open[open.count - 1].hasCode = true
      }
    }
    return false
  }

  @Test("each file with code for a platform is on the page about Apple's platforms, and no other")
  func list() throws {
    let branching = PackageFile.sources
      .filter { $0.text.range(of: "#if") != nil && Self.hasBranches($0.lines) }
      .map { String($0.path.dropFirst("Sources/".count)) }
    let page = try #require(
      Document.all.first { $0.path == "Documentation/ApplePlatforms.md" })
    let listed = page.text.matches(of: /(?m)^\| `([^`]+\.swift)` \|/).map { String($0.1) }
    #expect(branching.count > 20)
    #expect(Set(listed) == Set(branching))
  }

  @Test("imports and whole files are no branches; code is, also below another condition")
  func finds() {
    func hasBranches(_ source: String) -> Bool {
      Self.hasBranches(source.components(separatedBy: "\n"))
    }
    let imports = "#if canImport(Darwin)\nimport Darwin\n#else\npublic import Glibc\n#endif"
    #expect(!hasBranches(imports))
    #expect(!hasBranches("#if os(macOS) || os(Linux)\nlet a = 1\n#endif"))
    #expect(!hasBranches("#if DEBUG\nlet a = 1\n#endif"))
    #expect(hasBranches("#if os(Linux)\n// why\nlet a = 1\n#endif"))
    #expect(hasBranches("#if canImport(Darwin)\n#if DEBUG\nlet a = 1\n#endif\n#endif"))
  }

  @Test("the workflow runs all checks on both systems, with the toolchain of this one")
  func workflow() throws {
    let text = try String(
      contentsOf: URL.packageRoot.appending(path: ".github/workflows/ci.yml"), encoding: .utf8)
    #expect(text.matches(of: /- run: \.ci\/run\n/).count == 2)
    #expect(text.contains("container: swift:6.3.1-") && text.contains("runs-on: macos-"))
  }
}
