import Dispatch
import ProcedureTestSupport
import Procedures
import Testing

/// Real threads: each of these would take seconds, or for ever, on threads of Dispatch's shared
/// pool.
@Suite(.hangLimit) struct DispatchSchedulerTests {
  @Test(
    "Q4: as many procedures block at once as there are threads; one that is cancelled ends meanwhile"
  )
  func blocks() async {
    let (queue, count) = (ProcedureQueue(name: "blocking", threads: 24), 24)
    let (arrived, gate) = (Counter(), DispatchSemaphore(value: 0))
    let all = Gate()
    let procedures = (0..<count).map { _ in
      BlockProcedure {
        if arrived.increment() == count { all.open() }
        gate.wait()
      }
    }
    queue.add(procedures)
    let last = BlockProcedure {}
    queue.add(last)
    // All are blocked, and none of the shared threads is: this test goes on.
    await all.wait()
    #expect(!last.isFinished)
    last.cancel()
    await last.waitUntilFinished()
    // A wait for a procedure may be over before a worker has taken it off the list.
    #expect(await eventually { queue.count == count })
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume() }
    }
    for _ in procedures { gate.signal() }
    await queue.waitUntilAllFinished()
    #expect(procedures.allSatisfy { $0.outcome == .succeeded })
  }

  @Test(
    "Q2: a queue of one thread runs one at a time, in order, and waits may lead to another queue")
  func order() async {
    let (one, other) = (ProcedureQueue(threads: 1), ProcedureQueue(threads: 1))
    let trace = Recorder<Int>()
    let procedures = (0..<1_000).map { number in BlockProcedure { trace.note(number) } }
    one.add(procedures)
    let after = BlockProcedure { _ = procedures.last?.blockUntilFinished() }
    other.add(after)
    await after.waitUntilFinished()
    #expect(trace.events == Array(0..<1_000))
  }

  @Test("a queue without a thread stops the program, which says what to do instead")
  func none() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = ProcedureQueue(threads: 0)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("Give it one at least."))
  }
}
