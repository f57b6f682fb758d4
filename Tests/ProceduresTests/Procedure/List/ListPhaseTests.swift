import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of the phases of a list: every event in every phase.
@Suite(.hangLimit) struct ListPhaseTests {
  private static let path = "Sources/Procedures/Procedure/List/ListMachine.swift"

  private static func happen(_ event: String, to phase: inout ListPhase) {
    switch event {
    case "begin": phase.begin()
    case "settle": phase.settle()
    case "becameEmpty": _ = phase.becameEmpty()
    default: Issue.record("unknown event: \(event)")
    }
  }

  @Test("G1, G2: each event does in each phase what the table says")
  func cells() throws {
    let table = try MachineTable(of: "ListPhase", at: Self.path)
    #expect(table.rows.map(\.event) == ["begin", "settle", "becameEmpty"])
    #expect(table.differences(ListPhase.allCases, happen: Self.happen) == [])
  }

  @Test("G2: a group closes once, and children start between its execute and that")
  func steps() {
    for start in ListPhase.allCases {
      var phase = start
      let closes = phase.becameEmpty()
      #expect(closes == (start == .settling))
      let closesAgain = phase.becameEmpty()
      #expect(!closesAgain && start.letsStart == (start == .running || start == .settling))
    }
  }

  @Test("G2: an event that is impossible in its phase traps")
  func traps() async throws {
    let traps = try MachineTable(of: "ListPhase", at: Self.path).traps
    #expect(traps.count == 2)
    for (event, phase) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event as String, phase = phase as String] in
        guard var phase = ListPhase.allCases.first(where: { "\($0)" == phase }) else { return }
        Self.happen(event, to: &phase)
      }
    }
  }
}
