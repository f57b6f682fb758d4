import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// Calls that make a task, which the caller awaits.
@Suite(.hangLimit) struct HelperTaskTests {
  @Test("a body's calls that make tasks are a part of the simulation", arguments: Call.allCases)
  func calls(call: Call) throws {
    for seed in UInt64(0)..<40 {
      let logs = try (0..<2).map { _ in
        let simulation = ProcedureSimulation(seed: seed)
        let queue = simulation.makeQueue(name: "queue")
        let body = AsyncProcedure(name: "body") { [weak queue] in
          if let queue { try await call.make(on: queue) }
        }
        queue.add(body)
        try simulation.run()
        #expect(body.outcome == .succeeded)
        return simulation.log
      }
      #expect(logs[0] == logs[1])
    }
  }

  enum Call: CaseIterable, Sendable {
    case value, run, scope, shield, token, store, sequence

    nonisolated(nonsending) func make(on queue: ProcedureQueue) async throws {
      let clock = queue.clock
      let rest = { @Sendable in try await clock.sleep(for: .seconds(2)) }
      switch self {
      case .value:
        let three = AsyncResultProcedure(name: "three") {
          try await rest()
          return 3
        }
        #expect(try await queue.value(of: three) == 3)
      case .run:
        #expect(await queue.run(DelayProcedure(by: .seconds(2))) == .succeeded)
      case .scope:
        await withProcedureQueue { inner in inner.add(BlockProcedure {}) }
      case .shield:
        try await withCancellationShield { try await rest() }
      case .token:
        try await withTask(cancelledBy: CancellationTokenSource().token) { try await rest() }
      case .store:
        let store = TaskStore<Int>()
        try await store.addTask(id: 1) { try await rest() }.value
      case .sequence:
        let source = CancellationTokenSource()
        let delay = DelayProcedure(by: .seconds(2))
        let events = delay.events.prefix(until: source.token)
        queue.add(delay)
        for await _ in events {}
      }
    }
  }
}
