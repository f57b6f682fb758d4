import Procedures
import Testing

@testable import ProcedureRunbook

@Suite("How a step ended, in words")
struct StepOutcomeTests {
  private enum Raw: Error { case someCase(code: Int) }

  @Test("an error without words is not shown as the source of a program has it")
  func rawError() async {
    let procedure = BlockProcedure { throw Raw.someCase(code: 4) }
    _ = await ProcedureQueue().run(procedure)
    let outcome = StepOutcome(
      of: procedure, Step(name: "a", run: "true"), hasRun: true, runTimeout: nil, groups: [])
    #expect(outcome == .failed("an error of the type 'Raw', without words"))
  }

  @Test("an error with words is shown in these")
  func words() {
    #expect(StepOutcome.sentence(StepCheckFailed(description: "it is so")) == "it is so")
  }
}
