import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of what a child asks its group: every event in every stage.
@Suite(.hangLimit) struct GroupHearingTests {
  private static let path = "Sources/Procedures/Procedure/Life.swift"

  private static func happen(_ event: String, to hearing: inout GroupHearing) {
    switch event {
    case "next": _ = hearing.next()
    case "hear": _ = hearing.hear()
    default: Issue.record("unknown event: \(event)")
    }
  }

  @Test("G7: each event does in each stage what the table says")
  func cells() throws {
    let table = try MachineTable(of: "GroupHearing", at: Self.path)
    #expect(table.rows.map(\.event) == ["next", "hear"])
    #expect(table.differences(GroupHearing.allCases, happen: Self.happen) == [])
  }

  @Test("G7: a turn asks the group once, waits, and goes on when the group has decided")
  func steps() {
    var hearing = GroupHearing.due
    #expect(hearing.next() == .ask && hearing.next() == .wait && hearing.next() == .wait)
    let goesOn = hearing.hear()
    #expect(goesOn && hearing.next() == .goOn)
    hearing = .asked
    let goesOnByItself = !hearing.hear()
    #expect(goesOnByItself && hearing.next() == .goOn)
  }

  @Test("G7: an event that is impossible in its stage traps")
  func traps() async throws {
    let traps = try MachineTable(of: "GroupHearing", at: Self.path).traps
    #expect(traps.count == 3)
    for (event, state) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event as String, state = state as String] in
        guard var hearing = GroupHearing.allCases.first(where: { "\($0)" == state }) else { return }
        Self.happen(event, to: &hearing)
      }
    }
  }
}
