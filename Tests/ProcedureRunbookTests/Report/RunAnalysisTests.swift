import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("What the length of a run was due to", .hangLimit)
struct RunAnalysisTests {
  /// Steps with when they started and how long they took, in seconds; nil for those that did not
  /// run.
  private func analysis(
    _ steps: [(step: Step, start: Double?, duration: Double)], of length: Double, slots: Int = 2
  ) throws -> RunAnalysis {
    let entries = steps.map { step, start, duration in
      RunRecord.Entry(
        step, start == nil ? .notNeeded(nil) : .succeeded,
        start: start.map { .seconds($0) }, duration: start.map { _ in .seconds(duration) },
        untilReady: step.isService ? .seconds(2) : nil, attempts: 1, lastOutput: [])
    }
    return RunAnalysis(
      try Plan(steps: steps.map(\.step)), entries, slots: slots, duration: .seconds(length))
  }

  private func step(_ name: Name, after: [Name] = [], group: Name? = nil) -> Step {
    Step(name: name, run: "true", after: after, group: group)
  }

  @Test("the critical path leads back from the last end over what ended last before each start")
  func path() throws {
    let analysis = try analysis(
      [
        (step("short"), 0, 1), (step("long"), 0, 3), (step("other"), 3.5, 2),
        (step("last", after: ["short", "long"]), 4, 2),
      ], of: 6)
    #expect(
      analysis.criticalPath == [
        .init(name: "long", wait: .zero, duration: .seconds(3)),
        .init(name: "last", wait: .seconds(1), duration: .seconds(2)),
      ])
    #expect(
      analysis.lines == [
        "critical path: 5.00 s of 6.00 s: long 3.00 s → last 2.00 s",
        "jobs: 1.3 of 2 in use on average",
      ])
  }

  @Test("a service counts until it is ready, and takes no slot")
  func service() throws {
    var service = step("db")
    service.isService = true
    let analysis = try analysis(
      [(service, 0, 6), (step("test", after: ["db"]), 2, 4), (step("other"), 0, 1)], of: 6)
    #expect(
      analysis.lines == [
        "critical path: 6.00 s of 6.00 s: db 2.00 s → test 4.00 s",
        "jobs: 0.8 of 2 in use on average",
      ])
  }

  @Test("groups, and steps that were not needed, are looked through")
  func lookedThrough() throws {
    let analysis = try analysis(
      [
        (step("a", group: "g"), 0, 1), (step("b", group: "g"), 0, 2),
        (step("idle", after: ["g"]), nil, 0), (step("end", after: ["idle"], group: "h"), 2, 1),
        (step("really", after: ["h"]), 3, 1),
      ], of: 4)
    #expect(analysis.criticalPath.map(\.name) == ["b", "end", "really"])
  }

  @Test("a run of one step, or of none, has nothing to be said about; a long path is cut short")
  func lengths() throws {
    #expect(try analysis([(step("a"), 0, 1)], of: 1).lines.isEmpty)
    #expect(try analysis([(step("a"), nil, 0)], of: 0).lines.isEmpty)
    let chain = (0..<20).map { index in
      (
        step: step("s\(index)", after: index == 0 ? [] : ["s\(index - 1)"]),
        start: Double?(Double(index)),
        duration: 1.0
      )
    }
    let line = try analysis(chain, of: 20).lines[0]
    #expect(line.hasPrefix("critical path: 20.0 s of 20.0 s: s0 1.00 s → s1"))
    #expect(line.hasSuffix("→ (13 more) → s17 1.00 s → s18 1.00 s → s19 1.00 s"))
  }

  @Test("the analysis takes time for each step and membership once")
  func large() throws {
    let steps = (0..<2000).map { index in
      index < 1000
        ? (step: step("m\(index)", group: "g"), start: Double?(0), duration: 1.0)
        : (step: step("n\(index)", after: ["g"]), start: Double?(1), duration: 1.0)
    }
    let analysis = try analysis(steps, of: 2, slots: 1000)
    #expect(analysis.criticalPath.count == 2)
    #expect(analysis.usedSlots == 1000)
  }
}
