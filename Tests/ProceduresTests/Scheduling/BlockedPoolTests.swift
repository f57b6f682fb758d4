import Dispatch
import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import Testing

/// Each in a process of its own, all threads of whose pool are blocked. With STRESS set, by more.
@Suite(.hangLimit) struct BlockedPoolTests {
  private static let counts = Rounds.isStress ? [64, 255, 5_000] : [300]

  /// Executes until another thread finishes it.
  private final class Handed: Procedure, @unchecked Sendable {
    let started = DispatchSemaphore(value: 0)
    override func execute() { started.signal() }
  }

  @Test("Q11: a queue goes on although each thread of the pool waits for one of its procedures")
  func handed() async {
    await #expect(processExitsWith: .success) {
      func run() {
        let queue = ProcedureQueue()
        for _ in 0..<(Rounds.isStress ? 20_000 : 2_000) {
          let procedure = Handed()
          queue.add(procedure)
          DispatchQueue.global().async {
            procedure.started.wait()
            procedure.finish()
          }
        }
        queue.blockUntilAllFinished()
      }
      run()
    }
  }

  @Test("Q11: a queue goes on although each thread of the pool is in blockUntilFinished()")
  func blockUntilFinished() async {
    await #expect(processExitsWith: .success) {
      func run() {
        let (queue, all) = (ProcedureQueue(), DispatchGroup())
        for _ in 0..<(Rounds.isStress ? 20_000 : 1_000) {
          DispatchQueue.global().async(group: all) {
            queue.add {}.blockUntilFinished()
          }
        }
        all.wait()
      }
      run()
    }
  }

  @Test("Q11, K10: all work of the library goes on while the pool is blocked")
  func everything() async {
    await #expect(processExitsWith: .success) {
      func run(_ count: Int) {
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<count { DispatchQueue.global().async { gate.wait() } }
        let queue = ProcedureQueue()
        // A delay, a group, a dependency, a value, a task and its later steps.
        let delay = DelayProcedure(by: .milliseconds(1))
        let task = AsyncResultProcedure { @concurrent in
          await Task.yield()
          return 1
        }
        let transform = TransformProcedure { (value: Int) in value + 1 }
        transform.injectResult(from: task)
        let group = GroupProcedure(delay, task, transform)
        queue.add(group)
        group.blockUntilFinished()
        precondition(transform.output.map { (try? $0.get()) == 2 } == true)
        precondition(queue.snapshot().description.contains("on spare threads"))
        // On no queue: a cancel, and the handler of a deadline.
        let signal = DispatchSemaphore(value: 0)
        let detached = BlockProcedure {}
        detached.addDidCancelBlockObserver { _, _ in signal.signal() }
        detached.cancel()
        signal.wait()
        CancellationToken.timeout(.milliseconds(1)).onCancel { signal.signal() }
        signal.wait()
        for _ in 0..<count { gate.signal() }
      }
      for count in Self.counts { run(count) }
    }
  }

  @Test(
    "Q11: nested waits deeper than the pool go on while others compute"
  )
  func nested() async {
    await #expect(processExitsWith: .success) {
      @Sendable func procedure(_ depth: Int, on queue: ProcedureQueue) -> BlockProcedure {
        BlockProcedure {
          // Otherwise each further level waits for the pool to grow, for a quarter of a second.
          if depth == 0 { precondition(queue.snapshot().description.contains("on spare threads")) }
          if depth == 0 { return }
          let inner = procedure(depth - 1, on: queue)
          queue.add(inner)
          inner.blockUntilFinished()
        }
      }
      func run() {
        let (queue, ends) = (ProcedureQueue(), Counter())
        for _ in 0..<2 {
          DispatchQueue(label: "computes").async { while ends.value == 0 {} }
        }
        let outer = procedure(Rounds.isStress ? 120 : 24, on: queue)
        queue.add(outer)
        outer.blockUntilFinished()
        ends.increment()
      }
      run()
    }
  }

  @Test(
    "C3, Q4: blocked children keep neither an end nor one below the limit off a queue's own threads"
  )
  func children() async {
    let queue = ProcedureQueue(threads: 2)
    let gate = DispatchSemaphore(value: 0)
    let group = GroupProcedure(children: (0..<8).map { _ in BlockProcedure { gate.wait() } })
    let begun = Gate()
    group.addDidExecuteBlockObserver { _ in begun.open() }
    queue.add(group)
    await begun.wait()
    #expect(await queue.run(BlockProcedure {}) == .succeeded)
    let cancelled = BlockProcedure {}
    cancelled.add(dependency: group)
    queue.add(cancelled)
    cancelled.cancel()
    await cancelled.waitUntilFinished()
    #expect(!group.isFinished)
    for _ in 0..<8 { gate.signal() }
    await group.waitUntilFinished()
  }
}
