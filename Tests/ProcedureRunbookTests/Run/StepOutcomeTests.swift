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

  @Test("an error with a description is shown by it")
  func words() {
    #expect(StepOutcome.sentence(StepCheckFailed(description: "it is so")) == "it is so")
  }
}
