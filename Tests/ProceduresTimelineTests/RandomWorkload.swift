import Procedures
import ProceduresTesting
import ProceduresTimeline
import Synchronization

/// Procedures of many kinds that wait for each other in many ways, drawn from a seed.
final class RandomWorkload: Sendable {
  let scenario: Scenario
  private let limit: Int

  init(seed: UInt64) {
    limit = Int(seed % 4) + 1
    scenario = Scenario(seed: seed, limit: limit)
  }

  private func draw(_ count: Int) -> Int { scenario.simulation.random(in: 0...(count - 1)) }

  func run() throws -> ProcedureTimeline.Snapshot {
    let domain = ExclusionDomain(name: "workload")
    var all: [Procedure] = []
    var top: [Procedure] = []
    for number in 0..<(4 + draw(14)) {
      let procedure = make(number)
      if draw(3) == 0 {
        let category = ExclusionCategory(named: "c\(draw(2))", in: domain)
        procedure.add(condition: AtMost(1 + draw(2), of: category))
      }
      if draw(5) == 0 {
        procedure.add(condition: Later(clock: scenario.queue.clock, seconds: draw(3)))
      }
      for _ in 0..<draw(3) where !all.isEmpty {
        let dependency = all[draw(all.count)]
        if !(dependency is GroupProcedure) { procedure.add(dependency: dependency) }
      }
      if draw(4) == 0, let group = top.last as? GroupProcedure {
        group.add(child: procedure)
      } else {
        top.append(procedure)
      }
      all.append(procedure)
    }
    for (number, procedure) in top.enumerated() {
      let queue = scenario.queue
      if draw(3) == 0 {
        scenario.at(draw(6)) { queue.add(procedure) }
      } else {
        queue.add(procedure)
      }
      if draw(9) == 0, number > 0 { queue.add(barrier: lasting(draw(2), "barrier \(number)")) }
    }
    disturb(all)
    return try scenario.run()
  }

  private func make(_ number: Int) -> Procedure {
    let name = "p\(number)"
    switch draw(7) {
    case 0:
      let group = GroupProcedure(lasting(draw(3), name + ".1"), lasting(draw(4), name + ".2"))
      group.maxConcurrentChildCount = 1 + draw(2)
      return group.named(name)
    case 1:
      let seconds = draw(3)
      return BlockProcedure { try $0.produce(lasting(seconds, name + ".produced")) }.named(name)
    case 2:
      let procedure = lasting(draw(3), name)
      let (simulation, seconds) = (scenario.simulation, draw(3))
      procedure.addWillExecuteBlockObserver { _, pendingExecute in
        simulation.perform(after: .seconds(seconds)) { pendingExecute.release() }
      }
      return procedure
    default:
      return lasting(draw(5), name)
    }
  }

  private func disturb(_ all: [Procedure]) {
    let queue = scenario.queue
    for _ in 0..<draw(4) {
      let procedure = all[draw(all.count)]
      scenario.at(draw(8)) { procedure.cancel() }
    }
    if draw(3) == 0 {
      let start = draw(5)
      scenario.at(start) { queue.isSuspended = true }
      scenario.at(start + 2) { queue.isSuspended = false }
    }
    for procedure in all where draw(6) == 0 {
      let dependency = all[draw(all.count)]
      // Only on an earlier one, so that none waits for itself.
      guard procedure.name > dependency.name, procedure.name.count == dependency.name.count,
        !(dependency is GroupProcedure)
      else { continue }
      scenario.at(draw(3)) {
        if procedure.isPending { procedure.add(dependency: dependency) }
      }
    }
  }

  /// More at once than slots.
  var faults: [String] {
    let top = scenario.timeline.entries.filter { $0.parent == nil }
    var faults: [String] = []
    for entry in top {
      guard let started = entry.started, started != entry.finished else { continue }
      let others = top.filter { other in
        guard let start = other.started, let end = other.finished else { return false }
        return start <= started && started < end
      }
      if others.count > limit { faults.append("\(others.map(\.name)) in \(limit) slots") }
    }
    return faults
  }
}

private struct Later: Condition {
  let clock: any Clock<Duration>
  let seconds: Int

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await clock.sleep(for: .seconds(seconds))
    return .satisfied
  }
}
