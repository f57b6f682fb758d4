import Dispatch
import ProcedurePrimitives
import Procedures
import ProcedureTestSupport
import Testing

/// What a busy queue leaves to the rest of the process. With STRESS set, for longer.
@Suite(.serialized, .hangLimit) struct FairnessTests {
  /// Each adds the next to its queue, until the test ends that.
  private final class Endless: Procedure, @unchecked Sendable {
    private let stop: Gate
    init(until stop: Gate) {
      self.stop = stop
      super.init()
    }
    override func execute() {
      if !stop.isOpen { _ = try? produce(Endless(until: stop)) }
      finish()
    }
  }

  /// In a process of its own, whose pool may be kept busy.
  @Test("Q10: queues that feed themselves keep neither a queue, nor a timer, nor a block waiting")
  func selfFeeding() async {
    await #expect(processExitsWith: .success) {
      let stop = Gate()
      let busy = (0..<4).map { _ in ProcedureQueue() }
      for queue in busy { queue.add(Endless(until: stop)) }
      for _ in 0..<(Rounds.isStress ? 1_000 : 3) {
        let other = ProcedureQueue()
        #expect(await other.run(BlockProcedure {}) == .succeeded)
        #expect(await other.run(DelayProcedure(by: .milliseconds(1))) == .succeeded)
        let slow = TracedProcedure(end: .whenToldOrCancelled)
        slow.timeout(after: .milliseconds(1))
        #expect(await other.run(slow).isCancelled)
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async { continuation.resume() }
        }
        // One that is ready on a busy queue itself gets its turn, too.
        #expect(await busy[0].run(BlockProcedure {}) == .succeeded)
      }
      stop.open()
      for queue in busy { await queue.waitUntilAllFinished() }
    }
  }

  /// In a process of its own: what else runs in this one has its place in Dispatch's line, too.
  @Test("Q10: a long line of procedures that take time lets another queue go first")
  func longLine() async {
    await #expect(processExitsWith: .success) {
      let line = ProcedureQueue(maxConcurrentProcedureCount: 2)
      let (passed, passedAfter) = (Gate(), Slot<Int>())
      let finished = Counter()
      let count = 2_000
      for _ in 0..<count {
        line.add(
          BlockProcedure {
            // Milliseconds of work, until the other queue has had its turn. Not by the clock: where
            // the machine is busy the line must not be the faster for that.
            let end = processorTime() + 0.005
            while !passed.isOpen, processorTime() < end {}
            finished.increment()
          })
      }
      let other = BlockProcedure {
        passedAfter.value = finished.value
        passed.open()
      }
      #expect(await ProcedureQueue().run(other) == .succeeded)
      #expect(passedAfter.value! < count / 4, "it waited for \(passedAfter.value!) of the line")
      await line.waitUntilAllFinished()
    }
  }

  @Test("Q10: a worker goes to the end of its scheduler's line after a stretch")
  func stretch() {
    let scheduler = ManualScheduler(proceduresPerWorker: 3)
    let trace = Recorder<String>()
    let (first, second) = (
      ProcedureQueue(scheduler: scheduler), ProcedureQueue(scheduler: scheduler)
    )
    // One at a time, so that there is one worker of each.
    (first.maxConcurrentProcedureCount, second.maxConcurrentProcedureCount) = (1, 1)
    for index in 0..<7 { first.add(BlockProcedure { trace.note("a\(index)") }) }
    for index in 0..<2 { second.add(BlockProcedure { trace.note("b\(index)") }) }
    scheduler.run()
    #expect(trace.events == ["a0", "a1", "a2", "b0", "b1", "a3", "a4", "a5", "a6"])
  }

  @Test("Q10: groups that end one inside the other are no longer a stretch than others")
  func nestedEnds() {
    let scheduler = ManualScheduler(proceduresPerWorker: 10)
    let (queue, other) = (
      ProcedureQueue(scheduler: scheduler), ProcedureQueue(scheduler: scheduler)
    )
    let innermost = TracedProcedure()
    var group = GroupProcedure(innermost)
    for _ in 0..<100 { group = GroupProcedure(group) }
    queue.add(group)
    let passed = Gate()
    group.addDidFinishBlockObserver { _, _ in #expect(passed.isOpen) }
    // The ends begin.
    innermost.addDidFinishBlockObserver { _, _ in other.add(BlockProcedure { passed.open() }) }
    scheduler.run()
    #expect(group.isFinished && passed.isOpen)
  }
}
