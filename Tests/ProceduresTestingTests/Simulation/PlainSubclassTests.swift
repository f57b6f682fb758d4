import Procedures
import ProceduresTesting
import ProcedureTestSupport
import Testing

/// A subclass of `GroupProcedure` that overrides nothing.
@Suite(.hangLimit) struct PlainSubclassTests {
  private final class Plain: GroupProcedure, @unchecked Sendable {}

  /// Children that fail, are cancelled, add others and wait for each other, in groups in groups.
  private func log(
    seed: UInt64, _ make: (_ name: String, _ children: [Procedure]) -> GroupProcedure
  ) throws -> String {
    let simulation = ProcedureSimulation(seed: seed)
    let queue = simulation.makeQueue(name: "queue", maxConcurrentProcedureCount: 2)
    let failing = TracedProcedure("failing", failure: TestError("e"))
    let lasting = (0..<3).map { TracedProcedure("lasting \($0)", end: .whenToldOrCancelled) }
    let adding = TracedProcedure("adding")
    let inner = make("inner", [failing, lasting[0]])
    inner.failurePolicy = .cancelRemaining
    let sibling = make("sibling", [lasting[1], TracedProcedure("short")])
    let outer = make("outer", [inner, sibling, adding, lasting[2]])
    outer.maxConcurrentChildCount = 3
    adding.addDidExecuteBlockObserver { [sibling] _ in
      sibling.add(child: TracedProcedure("added", failure: TestError("a")))
    }
    queue.add(outer)
    simulation.perform(after: .seconds(1)) { sibling.cancel() }
    simulation.perform(after: .seconds(2)) { outer.cancel(withError: TestError("stop")) }
    try simulation.run()
    return simulation.log
  }

  @Test("G12: a subclass that overrides nothing behaves as its superclass, event for event")
  func sameLog() throws {
    for seed in 0..<UInt64(Rounds.size(5_000, otherwise: 60)) {
      let plain = try log(seed: seed) { name, children in
        GroupProcedure(children: children).named(name)
      }
      let subclass = try log(seed: seed) { name, children in
        Plain(children: children).named(name)
      }
      #expect(plain == subclass, "seed \(seed)")
      if plain != subclass { return }
    }
  }
}
