import Foundation
import ProcedureTestSupport
import Testing

/// The project of the tutorial has one complete file for each step, which consists of its listings.
@Suite(.hangLimit) struct TutorialFilesTests {
  private static let folder = URL.packageRoot.appending(path: "Documentation/Examples/Downloader")

  /// The Swift listings of the tutorial, in order.
  private static func listings() throws -> [String] {
    try #require(Document.all.first { $0.path.hasSuffix("/Tutorial.md") }).blocks(of: "swift")
  }

  /// With WRITE_EXAMPLES set it writes the files.
  @Test("each step's file is its listings, one after another")
  func files() throws {
    let listings = try Self.listings()
    try #require(listings.count == 6)
    let (site, downloads, run, cancel) = (listings[0], listings[1], listings[2], listings[3])
    let (tests, timeline) = (listings[4], listings[5])
    let imports = "import ProceduresTesting\nimport Testing"
    let files = [
      "Sources/step1/main.swift": [site, downloads, run, cancel],
      "Tests/step2/DownloadsTests.swift": [imports, site, downloads, tests],
      "Sources/step3/main.swift": [site, downloads, timeline],
    ]
    for (path, parts) in files {
      let text = parts.joined(separator: "\n\n") + "\n"
      let file = Self.folder.appending(path: path)
      if ProcessInfo.processInfo.environment["WRITE_EXAMPLES"] != nil {
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
      }
      #expect(try String(contentsOf: file, encoding: .utf8) == text, "\(path)")
    }
  }
}
