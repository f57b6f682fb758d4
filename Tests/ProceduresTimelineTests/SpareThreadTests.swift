import Dispatch
import ProcedureTestSupport
import ProceduresTimeline
import Procedures
import Testing

@Suite(.timeLimit(.minutes(5))) struct SpareThreadTests {
  @Test("Q11: a timeline marks what ran on a spare thread, since the pool was blocked")
  func marked() async {
    await #expect(processExitsWith: .success) {
      func run() {
        let queue = ProcedureQueue()
        let timeline = ProcedureTimeline()
        timeline.record(queue)
        // One has run in time: after a spare thread on a busy machine a block of the pool is still to come, and would
        // end the stall for a moment.
        repeat {
          let before = BlockProcedure {}
          queue.add(before)
          before.blockUntilFinished()
        } while timeline.snapshot().entries.last?.ranOnSpareThread != false
        let count = timeline.snapshot().entries.count
        let blocked = BlockProcedure {}
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<300 { DispatchQueue.global().async { gate.wait() } }
        queue.add(blocked)
        blocked.blockUntilFinished()
        let snapshot = timeline.snapshot()
        precondition(
          snapshot.entries.count == count + 1 && snapshot.entries[count].ranOnSpareThread)
        precondition(snapshot.chromeTrace().contains(#""thread":"spare""#))
      }
      run()
    }
  }
}
