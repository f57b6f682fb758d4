import Dispatch
import ProcedureTestSupport
import ProceduresTimeline
import Procedures
import Testing

@Suite(.hangLimit) struct SpareThreadTests {
  @Test("Q11: a timeline marks what ran on a spare thread, since the pool was blocked")
  func marked() async {
    await #expect(processExitsWith: .success) {
      func run() {
        // On a queue of its own the first one has a thread of Dispatch for certain. In the pool it
        // may not: on a busy machine that comes late, and with one core its one thread is this one.
        let (own, queue) = (
          ProcedureQueue(underlyingQueue: DispatchQueue(label: "own")), ProcedureQueue()
        )
        let timeline = ProcedureTimeline()
        timeline.record(own)
        timeline.record(queue)
        let (before, blocked) = (BlockProcedure {}, BlockProcedure {})
        own.add(before)
        before.blockUntilFinished()
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<300 { DispatchQueue.global().async { gate.wait() } }
        queue.add(blocked)
        blocked.blockUntilFinished()
        let snapshot = timeline.snapshot()
        precondition(snapshot.entries.map(\.ranOnSpareThread) == [false, true])
        precondition(snapshot.chromeTrace().contains(#""thread":"spare""#))
      }
      run()
    }
  }
}
