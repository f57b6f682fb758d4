import Foundation
import Testing

@testable import ProcedureRunbook

@Suite("Files that several steps read")
struct FoundFilesTests {
  @Test("each is looked at once, and what a step makes in a folder that it reads does not count")
  func once() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "FoundFiles-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "file").path
    #expect(OutputFile.write("1", to: file) == nil)
    let paths = [file, folder.path, "\(folder.path)/none"]
    let step = Step(name: "a", run: "true", inputs: paths, outputs: ["out"])
    let found = FoundFiles(of: [step, step])
    let size = { try found.tree(file, without: ["\(folder.path)/other"]).files.map(\.status.size) }
    #expect(try size() == [1])
    // A second look would see this.
    #expect(OutputFile.write("22", to: file) == nil)
    #expect(try size() == [1])
    #expect(try found.tree(folder.path, without: [file]).files.isEmpty)
    #expect(try found.tree(folder.path, without: []).files.map(\.name) == ["file"])
    // What one step reads is not remembered.
    let other = FoundFiles(of: [step])
    #expect(try other.tree(file, without: []).files.map(\.status.size) == [2])
    #expect(OutputFile.write("333", to: file) == nil)
    #expect(try other.tree(file, without: []).files.map(\.status.size) == [3])
    for _ in 0..<2 {
      #expect(throws: FileProblem.missing) { try found.tree("\(folder.path)/none", without: []) }
    }
  }
}
