import Foundation
import ProcedureTestSupport
import Testing

/// Tests lie where their sources do: see *Where a change goes* in Contributing.
@Suite(.hangLimit) struct TestFoldersTests {
  /// What belongs to no single folder of the sources.
  private static let concepts: Set<String> = [
    "Costs", "Model", "Races", "Shapes", "Stress", "Support", "Surface",
  ]

  /// The targets of tests that test one target of the same name. The benchmarks have a handful of
  /// tests.
  private static func modules() throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: URL.packageRoot.appending(path: "Sources").path
    )
    .filter { $0 != "ProcedureBenchmarks" }.sorted()
  }

  /// The Swift files below a folder, by their paths in it.
  private static func files(in folder: String) -> [String] {
    let path = URL.packageRoot.appending(path: folder).path
    return (FileManager.default.enumerator(atPath: path)?.allObjects ?? [])
      .compactMap { $0 as? String }
      .filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }
  }

  private static func folder(of path: String) -> String {
    path.split(separator: "/").dropLast().joined(separator: "/")
  }

  /// What is wrong with where the tests of one target lie.
  private static func faults(tests: [String], sources: [String]) -> [String] {
    let folders = Set(sources.map { folder(of: $0) })
    var homes: [String: Set<String>] = [:]
    for source in sources {
      let name = source.split(separator: "/").last?.dropLast(".swift".count) ?? ""
      homes[String(name), default: []].insert(folder(of: source))
    }
    return tests.compactMap { test in
      let own = folder(of: test)
      if concepts.contains(own) { return nil }
      if !own.isEmpty, !folders.contains(own) { return "\(test): no such folder in the sources" }
      let subject = test.split(separator: "/").last?.dropLast("Tests.swift".count) ?? ""
      guard test.hasSuffix("Tests.swift"), let home = homes[String(subject)] else { return nil }
      return home.contains(own) ? nil : "\(test): its source is in '\(home.sorted()[0])'"
    }
  }

  @Test("each test lies in the folder of its sources, or in one of the concepts")
  func folders() throws {
    for module in try Self.modules() {
      let tests = Self.files(in: "Tests/\(module)Tests")
      #expect(Self.faults(tests: tests, sources: Self.files(in: "Sources/\(module)")) == [])
    }
  }

  @Test("a test in the wrong folder, and one in a folder that does not exist, are found")
  func finds() {
    let faults = Self.faults(
      tests: [
        "ListTests.swift", "Old/QueueTests.swift", "Races/ListTests.swift", "Queue/ATests.swift",
      ],
      sources: ["Queue/List.swift", "Exports.swift"])
    #expect(
      faults == [
        "ListTests.swift: its source is in 'Queue'",
        "Old/QueueTests.swift: no such folder in the sources",
      ])
  }
}
