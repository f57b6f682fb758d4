import Foundation
import ProceduresTimeline
import ProcedureTestSupport
import Testing

/// The page, used in a real browser: rows, search, click, keyboard, critical path, no complaint on
/// the console, no request. The script is `.ci/timeline-check/page.py`.
@Suite(.hangLimit) struct BrowserTests {
  private static func isInstalled(_ program: String) -> Bool {
    let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return paths.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  private static let canRun =
    isInstalled("python3")
    && ["chromium-headless-shell", "chromium", "google-chrome"].contains(where: isInstalled)

  @Test("V3: the page works in a browser", .enabled(if: canRun, "needs python3 and Chromium"))
  func page() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "page.html")
    try Example().run().html(title: "</title><script>alert(1)</script>")
      .write(to: page, atomically: true, encoding: .utf8)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", URL.packageRoot.appending(path: ".ci/timeline-check/page.py").path, page.path,
    ]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(text)")
    #expect(text.contains("the page works"), "\(text)")
  }
}
