import Foundation
import ProcedureTestSupport
import ProceduresProcess
import Testing

@testable import ProcedureRunbook

@Suite("The look at all files before a run", .hangLimit)
struct FreshnessSweepTests {
  @Test(
    "the sweep goes on as long as looks are quick, and ends when they are not",
    arguments: [(Duration.seconds(100), 50), (.zero, 0)])
  func patience(look: Duration, doneCount: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "Sweep-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let steps = (0..<50).map { number in
      Step(name: "\(number)", run: "true", outputs: [folder.appending(path: "\(number)").path])
    }
    for step in steps { #expect(OutputFile.write("", to: step.outputs[0]) == nil) }
    let plan = try Plan(steps: steps)
    let journals = RunJournals(in: folder.path, plan: "-")
    #expect(try journals.lock(for: steps, needsMain: false, wait: nil).sentences.isEmpty)
    let shared = StepFreshness.Shared(plan, journals, threads: nil, isForced: false)
    for step in steps {
      let freshness = StepFreshness(of: step, shared)
      #expect(freshness.look() == .outOfDate(because: "it is not known to have succeeded"))
      #expect(freshness.noteStart() == nil)
      freshness.check(began: .now, isElsewhere: false) { #expect($0 == nil) }
      freshness.readFiles(until: .never) {}
      #expect(freshness.noteSuccess() == nil)
    }
    let sweep = FreshnessSweep(plan, shared, .init(moment: .zero, look: look))
    #expect(sweep.isDone.count { $0 } == doneCount)
    #expect(sweep.looks.isEmpty)
  }

  @Test("a step looks at its files on another thread")
  func aside() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "Aside-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let step = Step(name: "a", run: "true", outputs: [folder.appending(path: "a").path])
    let plan = try Plan(steps: [step])
    let threads = HandlerThreads(limit: 1)
    let shared = StepFreshness.Shared(
      plan, RunJournals(in: folder.path, plan: "-"), threads: threads, isForced: false)
    // The only thread is held, so the look waits and this does not.
    let hold = DispatchSemaphore(value: 0)
    threads.run { hold.wait() }
    let freshness = StepFreshness(of: step, shared)
    let verdict = await withCheckedContinuation { continuation in
      freshness.look { continuation.resume(returning: $0) }
      #expect(freshness.verdict == nil)
      hold.signal()
    }
    #expect(verdict == .outOfDate(because: "'\(step.outputs[0])' is not there"))
  }
}
