import Foundation
import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// Random workloads, checked against what is promised: hundreds by default, and `STRESS=1` many
/// more.
@Suite(.hangLimit) struct WorkloadStressTests {
  private static func simulate(seed: UInt64, _ simulation: ProcedureSimulation) throws {
    let plan = WorkloadPlan(seed: seed)
    let workload = Workload(plan, on: SimulatedStage(simulation: simulation))
    workload.start()
    try simulation.run()
    try check(workload, isExact: true)
  }

  private static func check(_ workload: Workload, isExact: Bool) throws {
    var model = PromiseModel(workload.plan, isExact: isExact)
    do {
      for event in workload.seen { try model.take(event) }
      try model.checkEnd(workload.procedures)
      for queue in workload.queues where queue.count > 0 {
        throw BrokenPromise(description: "F4: the queue is not empty: \(queue)")
      }
    } catch let broken as BrokenPromise {
      let events = workload.seen.map { "\($0)" }.joined(separator: "\n")
      var items = ""
      for (index, item) in workload.plan.items.enumerated() { items += "\(index): \(item)\n" }
      throw BrokenPromise(
        description:
          "\(broken)\n\(items)\(workload.plan.actions)\n\(workload.plan.limits)\n\(events)")
    }
  }

  @Test("random workloads in simulation keep every promise")
  func simulated() async throws {
    let count = UInt64(Rounds.size(100_000, otherwise: 200))
    let failure = await onThreadOfItsOwn { () -> (any Error)? in
      do {
        for seed in 0..<count {
          try ProcedureSimulation.explore(seeds: seed...seed) { simulation in
            try Self.simulate(seed: seed, simulation)
          }
        }
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  @Test("random workloads on threads keep every promise")
  func threads() async throws {
    let count: UInt64 = Rounds.isStress ? 20_000 : 200
    try await withThrowingTaskGroup { group in
      for first in 0..<8 as Range<UInt64> {
        group.addTask {
          for seed in stride(from: first, to: count, by: 8) {
            let workload = Workload(WorkloadPlan(seed: seed), on: DispatchStage())
            workload.start()
            for procedure in workload.procedures {
              try await procedure.finished(within: .seconds(1_000))
            }
            for queue in workload.queues { try await queue.allFinished(within: .seconds(1_000)) }
            while workload.hasUnfinishedActions { try await Task.sleep(for: .microseconds(200)) }
            try Self.check(workload, isExact: false)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
