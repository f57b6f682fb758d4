import Foundation
import ProcedureTestSupport

/// A Swift file of the package. Each file is read once, for all tests.
struct PackageFile: Sendable {
  /// The path, relative to the root of the package.
  let path: String
  let text: String
  /// The lines, without their ends.
  let lines: [String]

  /// Whether a line begins with `@Test`.
  var hasTests: Bool {
    text.range(of: "@Test") != nil && lines.contains { $0.drop { $0 == " " }.hasPrefix("@Test") }
  }

  /// The files of the libraries and programs, in the order of their paths.
  static let sources = files(below: "Sources")

  /// The files of the tests, likewise.
  static let tests = files(below: "Tests")

  private static func files(below folder: String) -> [PackageFile] {
    let root = URL.packageRoot.appending(path: folder)
    let paths = (FileManager.default.enumerator(atPath: root.path)?.allObjects ?? [])
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    return paths.sorted().compactMap { path in
      guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
        return nil
      }
      return PackageFile(
        path: "\(folder)/\(path)", text: text, lines: text.components(separatedBy: "\n"))
    }
  }
}
