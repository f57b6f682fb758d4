import Cancellation
import Dispatch
import Foundation
import Procedures
import ProcedureTestSupport
import Testing

/// Every kind of thing meets every other, over real threads, by public names only. A second by
/// default; with STRESS set two minutes, or `SOAK_SECONDS`.
@Suite(.serialized, .hangLimit) struct StormTests {
  private enum Disk {}

  private struct Fault: Error {}

  /// Counts what overlaps in one procedure, which nothing may.
  private final class Watched: Procedure, InputProcedure, OutputProcedure, @unchecked Sendable {
    typealias Input = Int
    typealias Output = Int
    private let inside = Counter()
    let overlaps: Counter
    let ends = Counter()
    private let fate: UInt64

    init(_ fate: UInt64, _ overlaps: Counter) {
      self.fate = fate
      self.overlaps = overlaps
      super.init()
    }

    func visit() {
      if inside.increment() > 1 { overlaps.increment() }
      inside.decrement()
    }

    override func execute() {
      visit()
      switch fate % 5 {
      case 0: finish(withResult: .failure(Fault()))
      case 1: DispatchQueue.global().async { self.finish(withResult: .success(1)) }
      case 2: cancel()
      default: finish(withResult: .success(2))
      }
      if fate % 5 == 2 { finish() }
    }

    override func procedureDidCancel(withErrors errors: [any Error]) { visit() }
    override func procedureWillFinish(withErrors errors: [any Error]) { visit() }
    override func procedureDidFinish(withErrors errors: [any Error]) {
      visit()
      ends.increment()
    }
  }

  /// Makes procedures of all kinds, and does things to those it made before.
  private struct Weather {
    var generator: SimulationGenerator
    let overlaps = Counter()
    let queues = [
      ProcedureQueue(maxConcurrentProcedureCount: 1),
      ProcedureQueue(maxConcurrentProcedureCount: 3),
      ProcedureQueue(), ProcedureQueue(underlyingQueue: DispatchQueue(label: "storm")),
    ]
    var made: [Procedure] = []
    var watched: [Watched] = []

    mutating func draw(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

    mutating func other() -> Procedure? { made.isEmpty ? nil : made[draw(made.count)] }

    mutating func leaf() -> Procedure {
      switch draw(7) {
      case 0: return BlockProcedure {}
      case 1: return DelayProcedure(by: .microseconds(draw(2_000)))
      case 2: return AsyncProcedure { await Task.yield() }
      case 3:
        let attempts = Counter()
        return RetryProcedure(max: 3, wait: .constant(.microseconds(100))) {
          BlockProcedure { if attempts.increment() < 3 { throw Fault() } }
        }
      case 4: return ResultProcedure { 7 }
      default:
        let procedure = Watched(generator.next(), overlaps)
        watched.append(procedure)
        return procedure
      }
    }

    mutating func procedure(depth: Int = 0) -> Procedure {
      guard depth < 3, draw(4) == 0 else { return leaf() }
      let group = GroupProcedure(children: (0..<draw(5)).map { _ in procedure(depth: depth + 1) })
      if draw(2) == 0 { group.maxConcurrentChildCount = 1 + draw(3) }
      if draw(3) == 0 { group.failurePolicy = .cancelRemaining }
      let late = BlockProcedure {}
      if draw(3) == 0 { group.addDidExecuteBlockObserver { group in group.add(child: late) } }
      return group
    }

    mutating func equip(_ procedure: Procedure) {
      if draw(3) == 0, let other = other() { procedure.add(dependency: other) }
      if draw(4) == 0 { procedure.add(condition: MutuallyExclusive<Disk>()) }
      if draw(5) == 0 { procedure.add(condition: AtMost(2, of: "network")) }
      if draw(5) == 0 {
        procedure.add(
          condition: AsyncCondition {
            await Task.yield(); return true
          })
      }
      if draw(6) == 0 { procedure.timeout(after: .microseconds(200 + draw(2_000))) }
      if draw(5) == 0 { procedure.cancel(when: .timeout(.microseconds(200 + draw(2_000)))) }
      if let target = procedure as? Watched {
        if let source = watched.dropLast().randomElement(using: &generator) {
          target.inject(dependency: source) { target, _, _ in target.visit() }
        }
        target.addDidCancelBlockObserver { target, _ in target.visit() }
        target.addWillExecuteBlockObserver { target, pending in
          target.visit()
          DispatchQueue.global().async { pending.release() }
        }
        let added = DelayProcedure(by: .microseconds(draw(500)))
        if draw(4) == 0 {
          target.addDidExecuteBlockObserver { target in _ = try? target.produce(added) }
        }
      }
    }

    mutating func disturb() {
      guard let victim = other() else { return }
      switch draw(6) {
      case 0: victim.cancel()
      case 1: victim.cancel(withError: Fault())
      case 2: victim.addDidFinishBlockObserver { _, _ in }.remove()
      case 3: queues[draw(queues.count)].isSuspended.toggle()
      case 4: _ = queues[draw(queues.count)].snapshot().description
      default: victim.finish()
      }
    }
  }

  @Test("F3, T1: in a storm of everything, each procedure ends once, and none overlaps itself")
  func storm() async {
    let seconds =
      Double(ProcessInfo.processInfo.environment["SOAK_SECONDS"] ?? "")
      ?? (Rounds.isStress ? 120 : 0.3)
    let overlaps = await onThreadOfItsOwn { () -> Int in
      let end = DispatchTime.now() + seconds
      var seed: UInt64 = 0
      var overlaps = 0
      while DispatchTime.now() < end {
        seed += 1
        let (found, lost) = Self.round(seed)
        overlaps += found
        guard lost.isEmpty else {
          Issue.record("seed \(seed): \(lost.joined(separator: "\n"))")
          break
        }
      }
      return overlaps
    }
    #expect(overlaps == 0)
  }

  /// What overlapped, and what did not end.
  private static func round(_ seed: UInt64) -> (overlaps: Int, lost: [String]) {
    var weather = Weather(generator: SimulationGenerator(seed: seed))
    for queue in weather.queues { queue.diagnosticsHandler = { _ in } }
    for _ in 0..<60 {
      let procedure = weather.procedure()
      weather.equip(procedure)
      weather.made.append(procedure)
      weather.queues[weather.draw(weather.queues.count)].add(procedure)
      let canceller = weather.other()
      if weather.draw(3) == 0 { DispatchQueue.global().async { canceller?.cancel() } }
      if weather.draw(2) == 0 { weather.disturb() }
    }
    for queue in weather.queues { queue.isSuspended = false }
    let isDone = DispatchSemaphore(value: 0)
    // Not on a thread of a pool, which other tests may keep busy for long.
    let waiter = Thread { [queues = weather.queues] in
      // Twice around: what one queue still has may add to another.
      for _ in 0..<2 { for queue in queues { queue.blockUntilAllFinished() } }
      isDone.signal()
    }
    waiter.start()
    guard isDone.wait(timeout: .now() + 1_200) == .success else {
      return (weather.overlaps.value, weather.queues.map { "\($0.snapshot())" })
    }
    let lost = weather.made.filter { !$0.isFinished }.map { "\($0)" }
    let twice = weather.watched.filter { $0.isEnqueued && $0.ends.value != 1 }.map { "ends: \($0)" }
    return (weather.overlaps.value, lost + twice)
  }
}
