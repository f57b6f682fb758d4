import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of the turn: every event in every state.
@Suite struct TurnTests {
  private static let path = "Sources/Procedures/Procedure/Life.swift"

  private static func happen(_ event: String, to turn: inout Turn) -> Bool {
    switch event {
    case "request": return turn.request()
    case "take": return turn.take()
    case "giveBack": return turn.giveBack()
    case "giveUp": turn.giveUp()
    default: Issue.record("unknown event: \(event)")
    }
    return false
  }

  @Test("T1: each event does in each state what the table says")
  func cells() throws {
    let table = try MachineTable(of: "Turn", at: Self.path)
    #expect(table.rows.map(\.event) == ["request", "take", "giveBack", "giveUp"])
    #expect(table.differences(Turn.allCases) { _ = Self.happen($0, to: &$1) } == [])
  }

  @Test("T1: exactly one caller is told that it has the turn")
  func holder() {
    for start in Turn.allCases {
      for event in ["request", "take"] {
        var turn = start
        #expect(Self.happen(event, to: &turn) == (start == .free))
      }
      guard start.isHeld else { continue }
      var turn = start
      // Kept, because something was noted since.
      #expect(Self.happen("giveBack", to: &turn) == (start == .wanted))
    }
  }

  @Test("T1: what must not happen traps")
  func traps() async throws {
    let traps = try MachineTable(of: "Turn", at: Self.path).traps
    #expect(
      traps.map(\.event) == ["giveBack", "giveUp"] && traps.allSatisfy { $0.state == "free" })
    for (event, _) in traps {
      await #expect(processExitsWith: .failure) { [event = event as String] in
        var turn = Turn.free
        _ = Self.happen(event, to: &turn)
      }
    }
  }
}
