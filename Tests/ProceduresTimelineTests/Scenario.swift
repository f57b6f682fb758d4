import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// A simulation with one queue that is recorded.
struct Scenario {
  let simulation: ProcedureSimulation
  let queue: ProcedureQueue
  let timeline: ProcedureTimeline

  init(seed: UInt64 = 1, limit: Int = .max, capacity: Int = 10_000) {
    simulation = ProcedureSimulation(seed: seed)
    queue = simulation.makeQueue(name: "queue", maxConcurrentProcedureCount: limit)
    timeline = ProcedureTimeline(capacity: capacity)
    timeline.record(queue)
  }

  /// Runs to the end.
  func run() throws -> ProcedureTimeline.Snapshot {
    try simulation.run()
    return timeline.snapshot()
  }

  func at(_ seconds: Int, _ action: @escaping @Sendable () throws -> Void) {
    simulation.perform(after: .seconds(seconds), action)
  }
}

/// Takes so many seconds of virtual time.
func lasting(_ seconds: Int, _ name: String) -> LastingProcedure {
  LastingProcedure(.seconds(seconds)).named(name)
}

extension ProcedureTimeline.Snapshot {
  /// For example `dependency 5 (fetch)`, of one procedure.
  func waits(of name: String) -> [String] {
    entry(named: name)?.waits.map { wait in
      "\(wait.cause.label) \(wait.duration / .seconds(1))" + (wait.blocker.map { " (\($0))" } ?? "")
    } ?? ["no entry"]
  }
}

extension ProcedureTimeline.Entry {
  /// What is to be true of each, whatever happened.
  var faults: [String] {
    var faults: [String] = []
    let before = waits.filter { !$0.cause.isAfterStart }.reduce(Duration.zero) { $0 + $1.duration }
    let cancelledBefore = cancelled.flatMap { $0 <= started ?? $0 ? $0 : nil }
    let end = started ?? cancelledBefore ?? finished
    if let end, before != enqueued.duration(to: end) {
      faults.append("\(name): waits add up to \(before), not \(enqueued.duration(to: end))")
    }
    if waits.contains(where: { $0.duration <= .zero }) {
      faults.append("\(name): a wait of \(waits.map(\.duration))")
    }
    let order = [enqueued, ready, started, executing, finished].compactMap(\.self)
    if order != order.sorted() { faults.append("\(name): instants out of order: \(order)") }
    if (finished == nil) != (outcome == nil) {
      faults.append("\(name): finished, and \(outcome == nil ? "no" : "an") outcome")
    }
    if (cancelled == nil) != (cancelReason == nil) {
      faults.append("\(name): cancelled, no reason")
    }
    return faults
  }
}

/// A condition that answers after some virtual time.
struct Answer: Condition {
  let clock: any Clock<Duration>
  let name: String
  let seconds: Int

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await clock.sleep(for: .seconds(seconds))
    return .satisfied
  }
}
