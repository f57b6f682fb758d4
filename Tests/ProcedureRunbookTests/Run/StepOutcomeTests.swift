import Procedures
import ProcedureTestSupport
import Testing

@testable import ProcedureRunbook

@Suite("How a step ended, in words", .hangLimit)
struct StepOutcomeTests {
  private enum Raw: Error { case someCase(code: Int) }

  @Test("an error without a description is shown in words, not as source code")
  func rawError() async {
    let procedure = BlockProcedure { throw Raw.someCase(code: 4) }
    _ = await ProcedureQueue().run(procedure)
    let outcome = StepOutcome(
      of: procedure, Step(name: "a", run: "true"), hasRun: true, runTimeout: nil, groups: [])
    #expect(outcome == .failed("an error of the type 'Raw', without words"))
  }

  @Test(
    "a time that is over is never longer than what is shown for it",
    arguments: [(0.49, 0.5), (0.5, 0.5), (1.2, 1.2)])
  func atLimit(measured: Double, shown: Double) {
    func entry(_ outcome: StepOutcome) -> RunRecord.Entry {
      RunRecord.Entry(
        Step(name: "a", run: "true"), outcome, start: .zero, duration: .seconds(measured),
        attempts: 1, lastOutput: [])
    }
    #expect(entry(.timedOut(.seconds(0.5))).duration == .seconds(shown))
    #expect(entry(.timedOut(.seconds(0.5), of: .run)).duration == .seconds(measured))
    #expect(entry(.succeeded).duration == .seconds(measured))
  }

  @Test("an error with a description is shown by it")
  func words() {
    #expect(StepOutcome.sentence(StepCheckFailed(description: "it is so")) == "it is so")
  }
}
