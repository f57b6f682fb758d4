import Foundation
import ProcedureTestSupport

/// Which test files check which promise, by the numbers in the names of tests: `"C3, F3: …"`.
struct PromiseIndex {
  /// The sections of Promises.md, each with its numbers, in the order in which they stand there.
  let sections: [(title: String, numbers: [String])]

  /// Entries of a section that have no number: what no test can name.
  let unnumbered: [String]

  /// The files whose tests name a number, relative to the root of the package, in order.
  let files: [String: [String]]

  init(promises: String, sources: [(path: String, text: String)]) {
    var sections: [(title: String, numbers: [String])] = []
    var unnumbered: [String] = []
    for line in promises.split(separator: "\n") {
      if let title = line.wholeMatch(of: #/## (.*)/#)?.1 {
        sections.append((String(title), []))
      } else if let number = line.prefixMatch(of: #/- \*\*([A-Z]\d+)\*\*/#)?.1 {
        if sections.isEmpty { sections.append(("", [])) }
        sections[sections.count - 1].numbers.append(String(number))
      } else if line.prefixMatch(of: #/\s*[-*+] /#) != nil {
        unnumbered.append(String(line))
      }
    }
    self.unnumbered = unnumbered
    self.sections = sections.filter { !$0.numbers.isEmpty }
    var files: [String: [String]] = [:]
    for source in sources.sorted(by: { $0.path < $1.path }) {
      for number in Self.numbers(in: source.text) {
        files[number, default: []].append(source.path)
      }
    }
    self.files = files
  }

  /// The numbers that tests of a source file carry in their names.
  static func numbers(in source: String) -> Set<String> {
    var numbers: Set<String> = []
    for name in source.matches(of: #/@Test\(\s*"([A-Z]\d+(?:, [A-Z]\d+)*): /#) {
      numbers.formUnion(name.1.split(separator: ", ").map(String.init))
    }
    return numbers
  }

  /// Promises that no test names.
  var untested: [String] { sections.flatMap(\.numbers).filter { files[$0] == nil } }

  /// Numbers of tests that are no promise.
  var unknown: [String] {
    files.keys.filter { !sections.flatMap(\.numbers).contains($0) }.sorted()
  }

  /// The page.
  var text: String {
    var text = ""
    for section in sections {
      text += "\n## \(section.title)\n\n"
      for number in section.numbers {
        let links = (files[number] ?? []).map { path in
          "[\(URL(filePath: path).deletingPathExtension().lastPathComponent)](../\(path))"
        }
        text += "- **\(number)** \(links.joined(separator: ", "))\n"
      }
    }
    return text
  }

  /// That of this package.
  static func ofPackage() throws -> PromiseIndex {
    let tests = URL.packageRoot.appending(path: "Tests").path
    let paths = (FileManager.default.enumerator(atPath: tests)?.allObjects ?? [])
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    let sources = try paths.map { path in
      (
        path: "Tests/\(path)",
        text: try String(contentsOfFile: "\(tests)/\(path)", encoding: .utf8)
      )
    }
    let promises = try String(
      contentsOf: URL.packageRoot.appending(path: "Documentation/Promises.md"), encoding: .utf8)
    return PromiseIndex(promises: promises, sources: sources)
  }
}
