import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of what a child asks its group: every event in every stage.
@Suite(.hangLimit) struct ParentDecisionTests {
  private static let path = "Sources/Procedures/Procedure/Life.swift"

  private static func happen(_ event: String, to decision: inout ParentDecision) {
    switch event {
    case "next": _ = decision.next()
    case "decide": _ = decision.decide()
    default: Issue.record("unknown event: \(event)")
    }
  }

  @Test("G7: each event does in each stage what the table says")
  func cells() throws {
    let table = try MachineTable(of: "ParentDecision", at: Self.path)
    #expect(table.rows.map(\.event) == ["next", "decide"])
    #expect(table.differences(ParentDecision.allCases, happen: Self.happen) == [])
  }

  @Test("G7: a turn asks the group once, waits, and goes on when the group has decided")
  func steps() {
    var decision = ParentDecision.due
    #expect(decision.next() == .ask && decision.next() == .wait && decision.next() == .wait)
    let goesOn = decision.decide()
    #expect(goesOn && decision.next() == .goOn)
    decision = .asked
    let goesOnByItself = !decision.decide()
    #expect(goesOnByItself && decision.next() == .goOn)
  }

  @Test("G7: an event that is impossible in its stage traps")
  func traps() async throws {
    let traps = try MachineTable(of: "ParentDecision", at: Self.path).traps
    #expect(traps.count == 3)
    for (event, state) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event as String, state = state as String] in
        guard var decision = ParentDecision.allCases.first(where: { "\($0)" == state }) else {
          return
        }
        Self.happen(event, to: &decision)
      }
    }
  }
}
