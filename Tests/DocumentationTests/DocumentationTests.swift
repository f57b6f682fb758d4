import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

/// What the documents show is what compiles, runs and exists.
@Suite(.hangLimit) struct DocumentationTests {
  private static let listings: [Listing] = {
    let folder = URL.packageRoot.appending(path: "Tests/DocumentationTests")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix("Listings.swift") }.sorted().flatMap { name in
      let source = try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
      return Listing.all(in: source ?? "")
    }
  }()

  @Test("every Swift block of a document is a listing of these tests", arguments: Document.all)
  func blocksAreListings(document: Document) {
    let texts = Set(Self.listings.map(\.text))
    for block in document.blocks(of: "swift") {
      #expect(texts.contains(block), "not among the listings")
    }
  }

  @Test("every listing is shown in a document, and has a name of its own")
  func listingsAreShown() {
    #expect(!Self.listings.isEmpty)
    let shown = Set(Document.all.flatMap { $0.blocks(of: "swift") })
    for listing in Self.listings {
      #expect(shown.contains(listing.text), "no document shows '\(listing.name)'")
    }
    #expect(Set(Self.listings.map(\.name)).count == Self.listings.count)
  }

  @Test("every link to a file leads to one", arguments: Document.all)
  func links(document: Document) {
    let folder = URL.packageRoot.appending(path: document.path).deletingLastPathComponent()
    for path in document.linkedPaths {
      let target = folder.appending(path: path).standardizedFileURL.path
      #expect(FileManager.default.fileExists(atPath: target), "\(path)")
    }
  }

  /// The site is made from a copy in which they are DocC's: see `.ci/documentation-check/build.py`.
  @Test("a link in a text is a path, which a code host follows", arguments: Document.all)
  func pathsOnly(document: Document) {
    #expect(!document.text.contains("](doc:"))
  }

  @Test("the index leads to every document below it, and to every article")
  func index() throws {
    let index = try #require(Document.all.first { $0.path == "Documentation/README.md" })
    let folder = URL.packageRoot.appending(path: "Documentation")
    let linked = Set(
      index.linkedPaths.map { folder.appending(path: $0).standardizedFileURL.path })
    for document in Document.all where document.path != index.path {
      guard document.path.hasPrefix("Documentation/") || document.isArticle else { continue }
      let path = URL.packageRoot.appending(path: document.path).standardizedFileURL.path
      #expect(linked.contains(path), "\(document.path) is not in the index")
    }
  }

  @Test("the page of a type with topics of its own names a guide of its module")
  func guides() {
    let pages = Document.all.filter { $0.path.contains("/Extensions/") }
    #expect(!pages.isEmpty)
    for page in pages {
      let articles = Document.all.filter { $0.module == page.module && $0.isArticle }
      let names = articles.map { URL(filePath: $0.path).deletingPathExtension().lastPathComponent }
      #expect(names.contains { page.text.contains("- <doc:\($0)>") }, "\(page.path) names none")
    }
  }

  @Test("the topics of each library name each of its articles")
  func topics() {
    for document in Document.all where document.isArticle {
      let module = document.module ?? ""
      let page = Document.all.first { $0.path == "Sources/\(module)/\(module).docc/\(module).md" }
      let name = URL(filePath: document.path).deletingPathExtension().lastPathComponent
      #expect(page?.text.contains("- <doc:\(name)>") == true, "\(module) does not name '\(name)'")
    }
  }

  @Test(
    "the manifest of the README is as this one: its tools version, platforms that suffice, a product"
  )
  func manifest() throws {
    let readme = try #require(Document.all.first)
    let block = try #require(readme.blocks(of: "swift package").first)
    let own = try String(
      contentsOf: URL.packageRoot.appending(path: "Package.swift"), encoding: .utf8)
    #expect(block.split(separator: "\n").first == own.split(separator: "\n").first)
    for platform in block.matches(of: /\.\w+\(\.v\d+\)/).map(\.0) {
      #expect(own.contains(platform))
    }
    let products = block.matches(of: /\.product\(name: "(\w+)"/).map { String($0.1) }
    #expect(!products.isEmpty)
    for product in products { #expect(own.contains(".library(name: \"\(product)\"")) }
  }

  @Test("the plan of the page about runbook is one that it accepts, and shows each key")
  func planOfItsPage() throws {
    let block = try #require(try runbookPage.blocks(of: "json").first)
    let directory = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try Data("[]".utf8).write(to: directory.appending(path: "tools.json"))
    try Data("TOKEN=abcdef".utf8).write(to: directory.appending(path: ".env"))
    let pages = directory.appending(path: "pages/first")
    try FileManager.default.createDirectory(at: pages, withIntermediateDirectories: true)
    try Data("# One".utf8).write(to: pages.appending(path: "one.md"))
    #expect(try PlanFile.plan(from: block.utf8, directory: directory.path).steps.count == 16)
    for key in PlanFile.stepKeys + PlanFile.planKeys { #expect(block.contains("\"\(key)\"")) }
  }

  @Test("the page about runbook names each option and each key, and so does its help")
  func options() throws {
    let page = try runbookPage
    let options = Help.text.matches(
      of: /^ +(?:-[a-zA-Z], )? *(--[a-z-]+)/.anchorsMatchLineEndings()
    )
    .map { String($0.1) }
    #expect(options.contains("--jobs") && options.contains("--help"))
    for option in options { #expect(page.text.contains("`\(option)"), "\(option)") }
    for key in PlanFile.stepKeys + PlanFile.planKeys {
      #expect(page.text.contains("`\(key)`"), "\(key)")
      #expect(Help.text.contains("\n  \(key) "), "\(key)")
    }
  }

  private var runbookPage: Document {
    get throws {
      try #require(Document.all.first { $0.path == "Documentation/Runbook.md" })
    }
  }
}
