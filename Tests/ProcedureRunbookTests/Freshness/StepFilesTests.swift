import Foundation
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("Files of a step", .hangLimit)
struct StepFilesTests {
  private let runbook: RunbookExecutable

  init() throws { runbook = try RunbookExecutable() }

  @Test(
    "a file that a step of the run has made is not changed meanwhile, by any path and in any tick",
    arguments: ["gen/h", "sub/../gen/h", "link/h"], ["gen/h", "gen"])
  func madeBefore(path: String, output: String) throws {
    let directory = runbook.directory.path
    for folder in ["gen", "sub"] { #expect(Directory.make("\(directory)/\(folder)") == nil) }
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory)/link", withDestinationPath: "gen")
    for file in ["gen/h", "out", "out.d"] {
      #expect(OutputFile.write(file, to: "\(directory)/\(file)") == nil)
    }
    var gen = Step(name: "gen", run: "true", outputs: [output])
    gen.directory = directory
    var use = Step(name: "use", run: "true", after: ["gen"], outputs: ["out"])
    (use.directory, use.depfile) = (directory, "out.d")
    let plan = try Plan(steps: [gen, use])
    let journals = RunJournals(in: directory, plan: RunJournals.noPlan)
    let others = OtherOutputs(plan, journals)
    // All files are younger than the start, as if its tick had not ended.
    let start = FileTime(seconds: 0, nanoseconds: 0)
    func result(of step: Step, dependencies: [FilePath]) throws -> StepFiles.Result {
      let files = StepFiles(of: step, journals, others)
      let looks = journals.newLooks(for: step)
      let look = try #require(files.look(looks, limit: .max))
      return files.result(
        since: look, began: (start, .now), dependencies: dependencies,
        journals.newLooks(for: step), journals.reader)
    }
    let header = use.path(of: path)
    if case .complete = try result(of: use, dependencies: [header]) {
      Issue.record("the header may have been changed")
    }
    guard case .complete = try result(of: gen, dependencies: []) else {
      Issue.record("the maker has no inputs")
      return
    }
    let after = try result(of: use, dependencies: [header])
    guard case .complete = after else {
      Issue.record("\(after)")
      return
    }
  }
}
