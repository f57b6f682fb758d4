import Procedures
import TestSupport
import Testing

@Suite struct SmokeTests {
  @Test func runs() async {
    let queue = ProcedureQueue()
    let outcome = await queue.run(BlockProcedure {})
    #expect("\(outcome)" == "succeeded")
  }
}
