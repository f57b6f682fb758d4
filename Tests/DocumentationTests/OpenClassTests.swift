import Foundation
import ProcedureTestSupport
import Testing

/// Whoever subclasses an open class can call each of its initialisers.
///
/// A convenience initialiser cannot be called by a subclass, and one that is taken for `super.init`
/// is not always refused: where a stored property is assigned first, Swift 6.3 says nothing, and
/// the program does not link.
@Suite(.hangLimit) struct OpenClassTests {
  private struct Source {
    /// The path below `Sources`.
    let path: String
    let lines: [String]

    init(_ path: String, _ lines: [String]) {
      self.path = path
      self.lines = lines
    }

    /// Those that open a body, by their names and indentations.
    private static func type(of line: String) -> (name: String, indentation: Int)? {
      // A regular expression takes long to find nothing.
      guard line.contains("class ") || line.contains("extension "),
        let match = line.firstMatch(of: #/^( *)(?:[\w@()]+ )*(?:class|extension) (\w+)/#)
      else { return nil }
      return (String(match.2), match.1.count)
    }

    var openClasses: [String] {
      lines.filter { $0.contains("open class") && $0.contains(#/\bopen class /#) }.compactMap {
        Self.type(of: $0)?.name
      }
    }

    /// The types that have a convenience initialiser which can be called, with the lines.
    var convenience: [(type: String, line: Int)] {
      guard lines.contains(where: { $0.contains("convenience") }) else { return [] }
      var found: [(String, Int)] = []
      var types: [Int: String] = [:]
      for (index, line) in lines.enumerated() {
        if let (name, indentation) = Self.type(of: line) { types[indentation] = name }
        guard line.contains("convenience"), line.contains(#/\bconvenience\b.*\binit\b/#) else {
          continue
        }
        let indentation = line.prefix { $0 == " " }.count
        let attributes = lines[..<index].reversed().prefix { line in
          let text = line.drop { $0 == " " }
          return !text.isEmpty && !text.hasPrefix("///") && !text.hasPrefix("}")
        }
        if attributes.contains(where: { $0.contains("unavailable") }) { continue }
        if let type = types[indentation - 2] { found.append((type, index + 1)) }
      }
      return found
    }
  }

  private static func faults(_ sources: [Source]) -> [String] {
    let open = Set(sources.flatMap(\.openClasses))
    return sources.flatMap { source in
      source.convenience.filter { open.contains($0.type) }.map { type, line in
        "\(source.path):\(line): \(type) is open; make its initialiser a designated one"
      }
    }
  }

  private static let sources = PackageFile.sources.filter { !$0.path.contains(".docc/") }.map {
    Source(String($0.path.dropFirst("Sources/".count)), $0.lines)
  }

  @Test("every initialiser of an open class can be called by a subclass")
  func designated() {
    #expect(Self.faults(Self.sources) == [])
  }

  @Test("the client package subclasses each open class")
  func subclassed() throws {
    let client = try String(
      contentsOf: .packageRoot.appending(path: ".ci/clients/Sources/Subclasses/main.swift"),
      encoding: .utf8)
    // No product has these.
    let inner = ["ProcedurePrimitives/", "ProcedureExclusion/"]
    let classes = Self.sources.filter { source in !inner.contains { source.path.hasPrefix($0) } }
      .flatMap(\.openClasses)
    #expect(classes.count > 30)
    // What the network procedures have in common has no initialiser of its own for others.
    for name in classes where name != "NetworkTaskProcedure" {
      let subclass = try Regex("final class \\w+: \(name)[<,]")
      #expect(client.contains(subclass), "\(name)")
    }
  }

  @Test("a convenience initialiser is found: of the class, of an extension, in a condition")
  func finds() {
    func source(_ path: String, _ text: String) -> Source {
      Source(path, text.components(separatedBy: "\n"))
    }
    let a = source(
      "A.swift",
      """
      nonisolated open class A<Value: Sendable>: Procedure,
        @unchecked Sendable
      {
        public init() {}

        /// One.
        public convenience init(one: Int) { self.init() }
      }
      public final class B {
        convenience init(two: Int) { self.init() }
      }
      """)
    let b = source(
      "B.swift",
      """
      extension A {
        @available(*, unavailable, message: "no")
        public convenience init(three: Int) { unavailableName() }
      }
      #if os(Linux)
        extension A {
          @_disfavoredOverload
          convenience public init(four: Int) { self.init() }
        }
      #endif
      """)
    #expect(
      Self.faults([a, b]) == [
        "A.swift:7: A is open; make its initialiser a designated one",
        "B.swift:8: A is open; make its initialiser a designated one",
      ])
  }
}
