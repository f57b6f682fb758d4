import Foundation
import ProcedureTestSupport
import Testing

/// What the page for contributors says of the sources is so.
@Suite(.hangLimit) struct ArchitectureTests {
  private static let sources: [String: SourceFile] = {
    let core = ["ProcedurePrimitives/", "ProcedureExclusion/", "Cancellation/", "Procedures/"].map {
      "Sources/" + $0
    }
    let files = PackageFile.sources.filter { core.contains(where: $0.path.hasPrefix) }
    return Dictionary(uniqueKeysWithValues: files.map { ($0.path, SourceFile($0.text)) })
  }()

  /// The file at a path of the page, whether it is one of the core's or not; nil if there is none.
  private static func source(at path: String) -> SourceFile? {
    guard let file = ArchitecturePage.file(path) else { return nil }
    if let known = sources["Sources/Procedures/" + path] ?? sources[path] { return known }
    return (try? String(contentsOf: file, encoding: .utf8)).map(SourceFile.init)
  }

  private var page: ArchitecturePage {
    get throws {
      let path = "Documentation/Architecture.md"
      return ArchitecturePage(try #require(Document.all.first { $0.path == path }).text)
    }
  }

  @Test(
    "each path on the pages for contributors leads to something",
    arguments: ["Architecture.md", "Contributing.md"])
  func paths(name: String) throws {
    let page = try #require(Document.all.first { $0.path == "Documentation/" + name })
    let paths = ArchitecturePage.code(in: page.text).map(\.code)
    #expect(paths.contains { $0.hasSuffix(".swift") })
    for path in paths {
      guard let file = ArchitecturePage.file(path) else { continue }
      let isThere = FileManager.default.fileExists(atPath: file.path)
      #expect(isThere, "there is no \(path)")
    }
  }

  @Test("a name that stands beside a file on the page is declared in that file")
  func declarations() throws {
    let references = ArchitecturePage.references(in: try page.text)
    #expect(references.count > 50)
    for reference in references {
      guard ArchitecturePage.file(reference.path) != nil else { continue }
      let source = Self.source(at: reference.path) ?? SourceFile("")
      for name in reference.names {
        let isThere = source.declares(name)
        #expect(isThere, "\(reference.path) does not declare \(name)")
      }
    }
  }

  @Test("each function that the page names without a file is one of the core's")
  func functions() throws {
    let all = Self.sources.values.reduce(into: Set<String>()) { $0.formUnion($1.functions) }
    for name in ArchitecturePage.code(in: try page.text).map(\.code)
    where name.wholeMatch(of: /[a-z]\w*\([\w:]*\)/) != nil {
      let isThere = all.contains(name)
      #expect(isThere, "no file of the core declares \(name)")
    }
  }

  @Test("there are seven ways through the code, and each step names a file and a function in it")
  func walks() throws {
    let walks = try page.walks
    #expect(walks.count == 7)
    for walk in walks {
      #expect(walk.steps.count >= 5, "\(walk.heading)")
      for step in walk.steps {
        let references = ArchitecturePage.references(in: step)
        #expect(!references.isEmpty, "names no file: \(step)")
        for reference in references {
          #expect(!reference.names.isEmpty, "names nothing in \(reference.path): \(step)")
        }
        let files = references.compactMap { Self.source(at: $0.path) }
        for name in ArchitecturePage.code(in: step).map(\.code) where name.hasSuffix(")") {
          let isThere = files.contains { $0.declares(name) }
          #expect(isThere, "no file of the step declares \(name): \(step)")
        }
      }
    }
  }

  @Test("each row of the types names a file and a type in it")
  func types() throws {
    let rows = try page.rows(of: "## The types")
    #expect(rows.count > 10)
    for row in rows {
      let references = ArchitecturePage.references(in: row.first ?? "")
      #expect(references.count == 1 && references.first?.names.isEmpty == false, "\(row)")
    }
  }

  @Test("each folder of Procedures is in the drawing, and the table says which ones it uses")
  func folders() throws {
    let page = try page
    let uses = Self.usesOfFolders(in: "Procedures")
    let drawing = page.drawing
    var said: [String: Set<String>] = [:]
    for row in page.rows(of: "### Which folder uses which") where row.count == 3 {
      said[row[0].filter { $0 != "`" }] = Set(
        ArchitecturePage.code(in: row[2]).map(\.code))
    }
    #expect(Set(said.keys) == Set(uses.keys))
    let rows = drawing.split(separator: "\n").map { $0.split { !$0.isLetter } }
    func row(_ folder: String) -> Int? { rows.firstIndex { $0.contains(folder[...]) } }
    for (folder, used) in uses {
      let own = try #require(row(folder), "the drawing has no \(folder)")
      for other in used {
        let below = try #require(row(other))
        #expect(below > own, "\(folder) uses \(other), which is not drawn below it")
      }
      let row = used.sorted().map { "`\($0)`" }.joined(separator: ", ")
      #expect(said[folder] == used, "the row of \(folder) must be: \(row)")
    }
  }

  @Test("Scheduling knows no procedure, nor anything else of its module")
  func scheduling() {
    #expect(Self.usesOfFolders(in: "Procedures")["Scheduling"] == [])
  }

  @Test(
    "no folder uses what uses it",
    arguments: [("Procedures", "Procedure", "Scheduling"), ("Cancellation", "Token", "State")])
  func noCircle(module: String, user: String, used: String) {
    let uses = Self.usesOfFolders(in: module)
    #expect(uses[user]?.contains(used) == true)
    for folder in uses.keys {
      #expect(!Self.reachable(from: folder, in: uses).contains(folder), "\(folder): \(uses)")
    }
  }

  @Test("each module is in the drawing")
  func modules() throws {
    let drawing = try page.drawing
    let folder = URL.packageRoot.appending(path: "Sources").path
    let modules = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(modules.contains("Procedures"))
    for module in modules {
      let isDrawn = drawing.contains(module)
      #expect(isDrawn, "the drawing has no \(module)")
    }
  }

  /// Which folders of a module use types of which others.
  private static func usesOfFolders(in module: String) -> [String: Set<String>] {
    var files: [(folder: String, source: SourceFile)] = []
    for (path, source) in sources {
      let parts = path.split(separator: "/").map(String.init)
      if parts.count >= 4, parts[1] == module { files.append((parts[2], source)) }
    }
    var homes: [String: String] = [:]
    for (folder, source) in files { for type in source.types { homes[type] = folder } }
    var uses: [String: Set<String>] = [:]
    for (folder, source) in files {
      let used = source.uses.compactMap { homes[$0] }.filter { $0 != folder }
      uses[folder, default: []].formUnion(used)
    }
    return uses
  }

  private static func reachable(
    from folder: String, in uses: [String: Set<String>]
  ) -> Set<String> {
    var (reached, open): (Set<String>, [String]) = ([], [folder])
    while let next = open.popLast() {
      for used in uses[next] ?? [] where reached.insert(used).inserted { open.append(used) }
    }
    return reached
  }

  @Test("the reader of sources sees declarations, not calls, comments or text")
  func reader() {
    let source = SourceFile(
      """
      /// func inComment() {}
      private final class Hidden { let text = "func inText() {}" }
      public struct Shown<Value> {
        init(_ value: Value) { self.init(of: value) }
        func add<T: P>(_ t: (T, T) -> Void, to other: [A: B], _: Int = f(1, 2)) -> Int { call(x: 1) }
        func none() throws {}
      }
      """)
    #expect(source.functions == ["init(_:)", "add(_:to:_:)", "none()"])
    #expect(source.types == ["Shown"])
    #expect(source.declares("Hidden") && source.declares("text") && !source.declares("inText()"))
    #expect(!source.declares("call(x:)") && !source.declares("init(of:)"))
  }

  @Test("the reader of the page sees which names stand beside which file")
  func pageReader() {
    let references = ArchitecturePage.references(
      in: "In `A/B.swift` · `f(_:)`,\n   `g()` and `h()`; `C.swift`, `i()`: `D.swift` · `j`")
    #expect(references.map(\.path) == ["A/B.swift", "C.swift", "D.swift"])
    #expect(references.map(\.names) == [["f(_:)", "g()"], [], ["j"]])
  }
}
