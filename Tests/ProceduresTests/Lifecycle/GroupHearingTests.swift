import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of what a child asks its group: every event in every stage.
@Suite struct GroupHearingTests {
  private enum Event: String, CaseIterable {
    case next, hearAtOnce, hear

    func happen(to hearing: inout GroupHearing) {
      switch self {
      case .next: _ = hearing.next()
      case .hearAtOnce: hearing.hearAtOnce()
      case .hear: _ = hearing.hear()
      }
    }
  }

  /// What must not happen, by the table.
  private static func traps() throws -> [(event: Event, stage: GroupHearing)] {
    try table().flatMap { event, cells in
      cells.filter { $0.outcome == "✕" }.map { (event, $0.stage) }
    }
  }

  private static func table() throws -> [(Event, cells: [(stage: GroupHearing, outcome: String)])] {
    try MachineTable(at: "Sources/Procedures/Lifecycle/GroupHearing.swift").rows.map { row in
      let event = try #require(Event(rawValue: row.event))
      #expect(row.cells.map(\.state) == GroupHearing.allCases.map { "\($0)" })
      return (event, Array(zip(GroupHearing.allCases, row.cells.map(\.outcome))))
    }
  }

  @Test("G7: each event does in each stage what the table says")
  func cells() throws {
    let table = try Self.table()
    #expect(table.map(\.0) == Event.allCases)
    for (event, cells) in table {
      for (stage, outcome) in cells where outcome != "✕" {
        var hearing = stage
        event.happen(to: &hearing)
        #expect(outcome == (hearing == stage ? "–" : "→ \(hearing)"), "\(event) in \(stage)")
      }
    }
    // What the turn does, and whether it goes on: the footnote.
    var hearing = GroupHearing.due
    #expect(hearing.next() == .ask && hearing.next() == .wait && hearing.next() == .wait)
    let goesOn = hearing.hear()
    #expect(goesOn && hearing.next() == .goOn)
    hearing = .asked
    let goesOnByItself = !hearing.hear()
    #expect(goesOnByItself && hearing.next() == .goOn)
  }

  @Test("G7: what must not happen traps")
  func traps() async throws {
    let traps = try Self.traps()
    #expect(traps.count == 7)
    for (event, stage) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event.rawValue as String, stage = stage.rawValue as UInt8] in
        guard let event = Event(rawValue: event), var hearing = GroupHearing(rawValue: stage)
        else { return }
        event.happen(to: &hearing)
      }
    }
  }
}
