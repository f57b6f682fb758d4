import Foundation
import ProcedureTestSupport
import Testing

/// What the page for contributors says of tests and checks is so.
@Suite(.hangLimit) struct ContributingTests {
  /// All files of the tests but this one, which has examples.
  private static let tests = PackageFile.tests.filter {
    !$0.path.hasSuffix(URL(filePath: #filePath).lastPathComponent)
  }

  /// What stands in the brackets of each attribute `@Suite` of a source; empty for one without.
  private static func traits(ofSuitesIn lines: [String]) -> [String] {
    lines.indices.filter { lines[$0].contains("@Suite") }.compactMap { index in
      guard let match = lines[index].prefixMatch(of: /\ *(?:@MainActor )?@Suite/) else {
        return nil
      }
      let rest = lines[index][match.range.upperBound...]
      guard rest.first == "(" else { return "" }
      let text = ([String(rest)] + lines[(index + 1)...]).prefix(20).joined(separator: "\n")
      var depth = 0
      let end = text.firstIndex { character in
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        return depth == 0
      }
      return String(text[..<(end ?? text.endIndex)])
    }
  }

  @Test("each suite has the limit of time that only a hang meets, and no test has another one")
  func hangLimit() {
    var count = 0
    for file in Self.tests where file.hasTests {
      let path = file.path
      let suites = Self.traits(ofSuitesIn: file.lines)
      count += suites.count
      #expect(!suites.isEmpty, "\(path): write @Suite(.hangLimit)")
      for traits in suites {
        #expect(
          traits.contains(".hangLimit"), "\(path): write @Suite(.hangLimit), not @Suite\(traits))")
      }
    }
    #expect(count > 200)
    let others = Self.tests.filter {
      $0.text.range(of: ".timeLimit(") != nil && $0.text.contains(/\.timeLimit\(\.minutes\(\d/)
    }
    #expect(others.map(\.path) == [])
  }

  private static let typeKeywords: Set<Substring> = [
    "struct", "class", "enum", "actor", "extension",
  ]

  /// The name of the type that a line declares or extends; nil if it does neither.
  private static func type(declaredBy line: Substring) -> Substring? {
    // Comments and text may have these words, too.
    let code = line.prefix { $0 != "/" && $0 != "\"" }
    let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    guard let keyword = words.firstIndex(where: typeKeywords.contains) else { return nil }
    return words.dropFirst(keyword + 1).first
  }

  /// The lines of the tests of a source that stand in no suite, as in an extension of another type:
  /// no trait is theirs.
  private static func testsOutside(of suites: Set<Substring>, in source: [String]) -> [Int] {
    // In what is formatted, indentation says what stands in what.
    var types: [(indentation: Int, name: Substring)] = []
    var lines: [Int] = []
    for (number, line) in source.enumerated() {
      let code = line.drop { $0 == " " }
      let indentation = line.utf8.count - code.utf8.count
      if code.hasPrefix("}") {
        types.removeAll { $0.indentation >= indentation }
      } else if code.hasPrefix("@Test") {
        let isInside = types.contains { $0.indentation < indentation && suites.contains($0.name) }
        if !isInside { lines.append(number + 1) }
      } else if code.hasSuffix("{"), let type = type(declaredBy: code) {
        types.append((indentation, type))
      }
    }
    return lines
  }

  /// The suites of each test source, by its path.
  private static let suites = Dictionary(
    uniqueKeysWithValues: tests.map { ($0.path, suites(in: $0.text)) })

  private static func suites(in source: String) -> [Substring] {
    source.matches(of: /@Suite[^{]*?\b(?:struct|class|actor|enum) (\w+)/).map(\.1)
  }

  @Test("each test stands in a suite, whose traits are the test's")
  func insideOfSuites() {
    let suites = Set(Self.suites.values.joined())
    let outside = Self.tests.filter(\.hasTests).flatMap { file in
      Self.testsOutside(of: suites, in: file.lines).map { "\(file.path):\($0)" }
    }
    #expect(outside == [])
    let source = """
      @Suite(.hangLimit)
      struct A {
        @Test func a() {}
      }
      extension A {
        @Test func b() {}
      }
      extension Set {
        @Test func c() {}
      }
      """
    let lines = source.components(separatedBy: "\n")
    #expect(Self.testsOutside(of: Set(Self.suites(in: source)), in: lines) == [9])
  }

  /// Why a test's name is no promise: a sentence begins with its subject.
  private static func fault(ofName name: Substring) -> String? {
    let sentence = name.replacing(#/^(?:[A-Z]\d+(?:, )?)+: /#, with: "")
    let openings = [
      "Added", "Also", "And", "Cancelled", "It", "Nor", "Of", "Removed", "So", "Such", "That",
      "Those", "Until", "What", "Whatever", "Where",
    ]
    let words = sentence.split(separator: " ")
    if words.count < 3 { return "a sentence has a subject and a verb: '\(name)'" }
    let first = words[0].prefix(1).uppercased() + words[0].dropFirst()
    guard openings.contains(first) else { return nil }
    return "a name begins with the subject, not with '\(words[0])': '\(name)'"
  }

  @Test("each test's name is a sentence that begins with its subject")
  func names() {
    var count = 0
    for file in Self.tests where file.hasTests {
      for match in file.text.matches(of: /@Test\(\s*"((?:[^"\\]|\\.)+)"/) {
        count += 1
        let fault = Self.fault(ofName: match.1)
        if let fault { Issue.record("\(file.path): \(fault)") }
      }
    }
    #expect(count > 1_500)
    #expect(Self.fault(ofName: "C3: a cancelled pending procedure finishes") == nil)
    #expect(Self.fault(ofName: "K1, C3: what must not happen traps") != nil)
    #expect(Self.fault(ofName: "waiting") != nil)
  }

  @Test("the reader of suites sees their traits")
  func reader() {
    #expect(
      Self.traits(
        ofSuitesIn: """
          @Suite struct A {}
            @MainActor @Suite("(a)", .timeLimit(.minutes(1))) struct B {}
          // @Suite(.c) struct C {}
          """.components(separatedBy: "\n")) == ["", #"("(a)", .timeLimit(.minutes(1))"#])
  }

  @Test("each command of the page runs a script that is there, or tests that `swift test` compiles")
  func commands() throws {
    let page = try String(
      contentsOf: URL.packageRoot.appending(path: "Documentation/Contributing.md"), encoding: .utf8)
    let scripts = Set(page.matches(of: /`\.ci\/([a-z-]+)/).map { String($0.1) })
    #expect(scripts.count > 8)
    for script in scripts {
      let path = URL.packageRoot.appending(path: ".ci/\(script)").path
      #expect(FileManager.default.isExecutableFile(atPath: path), "there is no .ci/\(script)")
    }
    let filters = Set(page.matches(of: /swift test --filter (\w+)/).map(\.1))
    #expect(filters.count > 2)
    // Scenarios are only in what `.ci/model` compiles.
    let sources = Self.tests.filter { !$0.text.hasPrefix("#if MODEL") }
    for filter in filters {
      let isThere = sources.contains {
        $0.path.hasPrefix("Tests/\(filter)/") || Self.suites[$0.path]?.contains(filter) == true
      }
      #expect(isThere, "swift test --filter \(filter) finds nothing")
    }
  }

  @Test("each seeded bug says what is wrong, and names a scenario that is there")
  func seededBugs() throws {
    let folder = URL.packageRoot.appending(path: "Tests/ModelTests/SeededBugs")
    let patches = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(patches.count > 50)
    for name in patches {
      let patch = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      let head = patch.prefix(upTo: patch.firstRange(of: "\n--- ")?.lowerBound ?? patch.startIndex)
      func line(_ key: String) -> Substring? {
        head.split(separator: "\n").first { $0.hasPrefix("\(key): ") }?.dropFirst(key.count + 2)
      }
      #expect(line("Bug") != nil && line("Message") != nil, "\(name)")
      let finder = try #require(line("Found by")?.split(separator: "/"), "\(name)")
      let isThere = Self.tests.contains {
        Self.suites[$0.path]?.contains(finder[0]) == true
          && $0.text.contains("func \(finder[1])(")
      }
      #expect(finder.count == 2 && isThere, "\(name): there is no \(finder.joined(separator: "/"))")
    }
  }

  @Test("each script of the checks has a row, and each row a script that its run names")
  func checks() throws {
    let folder = URL.packageRoot.appending(path: ".ci")
    func text(_ name: String) throws -> String {
      try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
    let page = try text("README.md")
    let rows = page.matches(of: /(?m)^\| `([a-z-]+)/).map { String($0.1) }
    let scripts = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
      var isFolder: ObjCBool = false
      _ = unsafe FileManager.default.fileExists(
        atPath: folder.appending(path: name).path, isDirectory: &isFolder)
      return !isFolder.boolValue && name != "README.md"
    }
    // Parts of others, and the two runs.
    let parts = ["all", "model-package", "run"]
    for script in scripts where !parts.contains(script) {
      #expect(rows.contains(script), ".ci/README.md has no row for \(script)")
    }
    let runs = try text("run") + text("all")
    for row in Set(rows) {
      #expect(scripts.contains(row), "there is no .ci/\(row)")
      let isRun = runs.contains(try Regex("\\b\(row)\\b"))
      #expect(isRun, "neither .ci/run nor .ci/all runs \(row)")
    }
  }
}
