import Foundation
import Testing

@testable import ProcedureRunbook

@Suite("The look at all files before a run")
struct FreshnessSweepTests {
  @Test(
    "it goes on as long as looks are quick, however many there are, and ends when they are not",
    arguments: [(Duration.seconds(100), 50), (.zero, 0)])
  func patience(look: Duration, doneCount: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "Sweep-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let steps = (0..<50).map { number in
      Step(name: "\(number)", run: "true", outputs: [folder.appending(path: "\(number)").path])
    }
    for step in steps { #expect(OutputFile.write("", to: step.outputs[0]) == nil) }
    let shared = StepFreshness.Shared(
      journal: RunJournal(reading: folder.path), digests: nil, threads: nil, isForced: false)
    let sweep = FreshnessSweep(try Plan(steps: steps), shared, .init(moment: .zero, look: look))
    #expect(sweep.isDone.count { $0 } == doneCount)
    #expect(sweep.looks.isEmpty)
  }
}
