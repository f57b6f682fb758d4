import Dispatch
import Procedures
import ProceduresTesting

/// What a workload is performed on.
protocol WorkloadStage: Sendable {
  func makeQueue(name: String, maxConcurrentProcedureCount: Int) -> ProcedureQueue
  func perform(after units: Int, _ action: @escaping @Sendable () -> Void)
  func duration(_ units: Int) -> Duration
}

struct SimulatedStage: WorkloadStage {
  let simulation: ProcedureSimulation

  func makeQueue(name: String, maxConcurrentProcedureCount: Int) -> ProcedureQueue {
    simulation.makeQueue(name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount)
  }

  func perform(after units: Int, _ action: @escaping @Sendable () -> Void) {
    simulation.perform(after: duration(units), action)
  }

  func duration(_ units: Int) -> Duration { .milliseconds(units) }
}

/// Threads, and real time.
struct DispatchStage: WorkloadStage {
  /// Actions come from threads of their own.
  private let users = DispatchQueue(label: "users", attributes: .concurrent)

  func makeQueue(name: String, maxConcurrentProcedureCount: Int) -> ProcedureQueue {
    ProcedureQueue(name: name, maxConcurrentProcedureCount: maxConcurrentProcedureCount)
  }

  func perform(after units: Int, _ action: @escaping @Sendable () -> Void) {
    users.asyncAfter(deadline: .now() + .microseconds(100 * units), execute: action)
  }

  func duration(_ units: Int) -> Duration { .microseconds(100) * units }
}
