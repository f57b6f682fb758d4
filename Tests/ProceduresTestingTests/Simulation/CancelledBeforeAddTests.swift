import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct CancelledBeforeAddTests {
  @Test("C7: a procedure that is cancelled before it is added finishes in a simulation, too")
  func cancelledBeforeAdd() throws {
    for seed in 0..<40 as Range<UInt64> {
      let simulation = ProcedureSimulation(seed: seed)
      let queue = simulation.makeQueue()
      let child = BlockProcedure {}
      let procedures = [BlockProcedure {}, GroupProcedure(child)]
      for procedure in procedures { procedure.cancel() }
      queue.add(procedures)
      try simulation.run()
      #expect(([child] + procedures).allSatisfy { $0.isFinished && $0.isCancelled })
    }
  }
}
