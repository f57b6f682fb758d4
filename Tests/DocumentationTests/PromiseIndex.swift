import Foundation
import ProcedureTestSupport

/// Which tests check which promise, by the numbers in the names of tests: `"C3, F3: …"`.
struct PromiseIndex {
  /// A test that carries the number of a promise.
  struct Entry: Equatable {
    /// Of its file, relative to the root of the package.
    let path: String
    /// Its name, without numbers.
    let sentence: String
  }

  /// The sections of Promises.md, each with its numbers, in the order in which they stand there.
  let sections: [(title: String, numbers: [String])]

  /// Entries of a section that have no number: what no test can name.
  let unnumbered: [String]

  /// The tests that carry a number: files in order, and each as its tests come.
  let tests: [String: [Entry]]

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
    var tests: [String: [Entry]] = [:]
    for source in sources.sorted(by: { $0.path < $1.path }) {
      let names = source.text.matches(
        of: #/@Test\(\s*"([A-Z]\d+(?:, [A-Z]\d+)*): ((?:[^"\\]|\\.)*)"/#)
      for name in names {
        let entry = Entry(path: source.path, sentence: String(name.2))
        for number in name.1.split(separator: ", ") {
          tests[String(number), default: []].append(entry)
        }
      }
    }
    self.tests = tests
  }

  /// Promises that no test names.
  var untested: [String] { sections.flatMap(\.numbers).filter { tests[$0] == nil } }

  /// Numbers of tests that are no promise.
  var unknown: [String] {
    tests.keys.filter { !sections.flatMap(\.numbers).contains($0) }.sorted()
  }

  /// The tests in the order of the page of promises: below each number what they say of it.
  var text: String {
    var text = ""
    for section in sections {
      text += "\n## \(section.title)\n\n"
      for number in section.numbers {
        text += "- **\(number)**\n"
        for test in tests[number] ?? [] {
          let file = URL(filePath: test.path).deletingPathExtension().lastPathComponent
          text += "  - \(test.sentence) ([\(file)](../\(test.path)))\n"
        }
      }
    }
    return text
  }

  /// That of this package.
  static func ofPackage() throws -> PromiseIndex {
    let promises = try String(
      contentsOf: URL.packageRoot.appending(path: "Documentation/Promises.md"), encoding: .utf8)
    return PromiseIndex(
      promises: promises, sources: PackageFile.tests.map { (path: $0.path, text: $0.text) })
  }
}
