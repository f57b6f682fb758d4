import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of the turn: every event in every state.
@Suite(.hangLimit) struct TurnTests {
  private static let path = "Sources/Procedures/Procedure/Life.swift"

  private static func happen(_ event: String, to turn: inout Turn) -> Bool {
    switch event {
    case "request": return turn.request()
    case "goOn":
      turn.goOn()
      return true
    case "begin": turn.begin()
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
    #expect(table.rows.map(\.event) == ["request", "goOn", "begin", "take", "giveBack", "giveUp"])
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
      // A turn that was kept is the caller's who lets it go on.
      #expect(Self.happen("goOn", to: &turn) && turn == .due)
      guard start != .due else { continue }
      turn = start
      // Kept, because something was noted since.
      #expect(Self.happen("giveBack", to: &turn) == (start == .wanted))
    }
  }

  @Test("T1: an event that is impossible in its state traps")
  func traps() async throws {
    let traps = try MachineTable(of: "Turn", at: Self.path).traps
    #expect(
      traps.map { "\($0.event) \($0.state)" } == [
        "goOn free", "begin free", "giveBack free", "giveBack due", "giveUp free", "giveUp due",
      ])
    for (event, state) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event as String, isFree = (state == "free") as Bool] in
        var turn = isFree ? Turn.free : .due
        _ = Self.happen(event, to: &turn)
      }
    }
  }
}
