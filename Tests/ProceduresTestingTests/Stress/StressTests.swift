import Dispatch
import Foundation
import ProcedurePrimitives
import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// Much of everything, at once. Small by default; with STRESS set, as large as the documentation
/// says, with a soak of ten minutes, or of `SOAK_SECONDS`.
@Suite(.serialized, .hangLimit) struct StressTests {
  /// Counts how often it finished, and whether it should have.
  private final class Counted: Procedure, @unchecked Sendable {
    private let counts: Tally
    init(_ counts: Tally) {
      self.counts = counts
      super.init()
    }
    override func execute() {
      counts.executed.add()
      finish()
    }
    override func procedureDidCancel(withErrors errors: [any Error]) { counts.cancelled.add() }
    override func procedureDidFinish(withErrors errors: [any Error]) { counts.finished.add() }
  }

  private final class Tally: Sendable {
    final class Number: Sendable {
      private let state = Locked(0)
      var value: Int { state.withLock { $0 } }
      func add() { state.withLock { $0 += 1 } }
    }
    let executed = Number()
    let cancelled = Number()
    let finished = Number()
  }

  @Test("F3: a queue loses no procedure, though some are cancelled at random")
  func throughput() async {
    let total = Rounds.size(10_000_000, otherwise: 10_000)
    let tally = Tally()
    let accepted = await onThreadOfItsOwn { () -> Int in
      let queue = ProcedureQueue()
      var generator = SimulationGenerator(seed: 1)
      var recent: [Procedure] = []
      var accepted = 0
      for _ in 0..<total {
        let procedure = Counted(tally)
        queue.add(procedure)
        recent.append(procedure)
        guard recent.count == 64 else { continue }
        for procedure in recent where generator.next() % 4 == 0 {
          if procedure.cancel(withErrors: []) { accepted += 1 }
        }
        recent.removeAll(keepingCapacity: true)
        // Adding is faster than running: keep what waits within the memory of a small machine.
        if queue.count > 500_000 { queue.blockUntilAllFinished() }
      }
      queue.blockUntilAllFinished()
      return accepted
    }
    #expect(tally.finished.value == total)
    #expect(tally.cancelled.value == accepted)
    #expect(tally.executed.value >= total - accepted && tally.executed.value <= total)
  }

  @Test("Z3: pending delays end on one timer, half of them cancelled")
  func delays() async {
    let total = Rounds.size(1_000_000, otherwise: 5_000)
    let clock = TestClock()
    let finished = Counter()
    await onThreadOfItsOwn {
      let queue = ProcedureQueue(clock: clock.clock)
      var generator = SimulationGenerator(seed: 2)
      var pending: [Procedure] = []
      for _ in 0..<total {
        let delay = DelayProcedure(by: .milliseconds(1 + generator.next() % 3_600_000))
        delay.addDidFinishBlockObserver { _, _ in finished.increment() }
        pending.append(delay)
      }
      queue.add(pending)
      while clock.pendingCount < total { Thread.sleep(forTimeInterval: 0.001) }
      for (index, delay) in pending.enumerated() where index % 2 == 0 { delay.cancel() }
      clock.advance(by: .seconds(3600))
      queue.blockUntilAllFinished()
    }
    #expect(finished.value == total && clock.pendingCount == 0)
  }

  @Test("C5, G3: groups in groups end in cancel storms of eight threads")
  func cancelStorms() async {
    let rounds = Rounds.isStress ? 2_000 : 20
    await onThreadOfItsOwn {
      let queue = ProcedureQueue()
      for round in 0..<rounds {
        let tally = Tally()
        let leaves = (0..<100).map { _ in Counted(tally) }
        let middles = (0..<10).map { index in
          GroupProcedure(children: Array(leaves[index * 10..<(index + 1) * 10]))
        }
        let root = GroupProcedure(children: middles)
        let targets: [Procedure] = [root] + middles + leaves
        queue.add(root)
        let accepted = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
          var generator = SimulationGenerator(seed: UInt64(round * 8 + thread))
          for _ in 0..<50 {
            if targets.randomElement(using: &generator)!.cancel(withErrors: []) {
              accepted.increment()
            }
          }
        }
        root.cancel()
        queue.blockUntilAllFinished()
        #expect(tally.finished.value == leaves.count)
        #expect(tally.cancelled.value == leaves.count { $0.isCancelled })
        #expect(targets.allSatisfy { $0.isFinished })
      }
    }
  }

  #if canImport(Glibc)
    @Test("F4, K8: memory stays flat while work goes on and on")
    func soak() async {
      // In a process of its own: other tests allocate too.
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        let seconds =
          Double(ProcessInfo.processInfo.environment["SOAK_SECONDS"] ?? "")
          ?? (Rounds.isStress ? 600 : 0.2)
        let end = Date().addingTimeInterval(seconds)
        let root = CancellationTokenSource()
        let queue = ProcedureQueue()
        var seed: UInt64 = 0
        // Few enough not to be what grows.
        var levels: [(bytes: Int, threads: Int)] = []
        levels.reserveCapacity(1_000)
        while Date() < end || levels.count < 8 {
          for _ in 0..<50 {
            seed += 1
            let group = GroupProcedure()
            group.cancel(when: root.token)
            let delay = DelayProcedure(by: .milliseconds(1))
            delay.add(observer: TimeoutObserver(by: .seconds(60)))
            let after = BlockProcedure {}
            after.add(dependency: delay)
            after.add(condition: MutuallyExclusive(named: "soak"))
            group.add(children: [delay, after])
            queue.add(group)
            if seed % 3 == 0 { group.cancel() }
          }
          await queue.waitUntilAllFinished()
          let elapsed = seconds - end.timeIntervalSinceNow
          if Double(levels.count) < 64 * elapsed / seconds || elapsed > seconds {
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            levels.append((LiveBytes.now, threads.count))
          }
        }
        // The first quarter fills caches. After that nothing grows with the number of rounds; but a
        // busy machine has Dispatch start more threads, and malloc keeps some blocks of each size
        // for each of them.
        let (early, late) = (
          levels[levels.count / 4..<levels.count / 2], levels[(levels.count * 3 / 4)...]
        )
        let threads = max(0, late.map(\.threads).max()! - early.map(\.threads).min()!)
        if late.map(\.bytes).min()! > early.map(\.bytes).max()! + (1 + threads) * 256 * 1024 {
          let step = max(1, levels.count / 16)
          let course = stride(from: 0, to: levels.count, by: step).map { levels[$0] }
          // Not by a trap: then the one that waits for this process would not hear of it.
          FileHandle.standardError.write(Data("it grew: \(course)\n".utf8))
        }
      }
      let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
      if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("it grew: ") }) {
        Issue.record("\(line)")
      }
    }
  #endif
}
