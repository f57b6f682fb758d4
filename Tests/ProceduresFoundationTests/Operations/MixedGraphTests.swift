import Foundation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

/// Ten thousand graphs with STRESS set, a thousand under ThreadSanitizer, some hundreds otherwise.
@Suite(.hangLimit) struct MixedGraphTests {
  @Test("I1: random graphs of operations and procedures do what the model says, and leave nothing")
  func randomGraphs() async {
    var reminders = 0
    for seed in 0..<UInt64(Rounds.isStress ? 10_000 : Rounds.isSanitized ? 1_000 : 200) {
      weak var released: MixedGraph.Node?
      do {
        let graph = MixedGraph(seed: seed)
        released = graph.nodes.last
        reminders += await graph.run()
        #expect(graph.violations.events.isEmpty, "seed \(seed)")
      }
      #expect(await eventually { released == nil }, "seed \(seed) leaves a node behind")
    }
    #expect(reminders < 5, "Foundation's queue has forgotten operations")
  }
}
