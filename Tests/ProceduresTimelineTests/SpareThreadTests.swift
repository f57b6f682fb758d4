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
        let (before, blocked) = (BlockProcedure {}, BlockProcedure {})
        queue.add(before)
        before.blockUntilFinished()
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<300 { DispatchQueue.global().async { gate.wait() } }
        queue.add(blocked)
        blocked.blockUntilFinished()
        let snapshot = timeline.snapshot()
        // The first one did as well if this process got no time for 20 milliseconds.
        precondition(snapshot.entries.count == 2 && snapshot.entries[1].ranOnSpareThread)
        precondition(snapshot.chromeTrace().contains(#""thread":"spare""#))
      }
      run()
    }
  }
}
