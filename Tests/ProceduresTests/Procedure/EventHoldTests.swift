import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of an event that is kept back: what happens in every state.
@Suite(.hangLimit) struct EventHoldTests {
  private static func happen(_ event: String, to hold: inout EventHold) {
    switch event {
    case "keep": hold.keep(.execute)
    case "await": _ = hold.await()
    case "release": _ = hold.release(.execute)
    case "drop": _ = hold.drop(.execute)
    default: Issue.record("unknown event: \(event)")
    }
  }

  private static func name(_ hold: EventHold) -> String {
    hold.event == nil ? "none" : hold.isAwaited ? "awaited" : "kept"
  }

  private static func kept(_ event: HoldableEvent, times: Int = 1, isAwaited: Bool = false)
    -> EventHold
  {
    var hold = EventHold()
    for _ in 0..<times { hold.keep(event) }
    if isAwaited { _ = hold.await() }
    return hold
  }

  @Test("O3: each event does in each state what the table says")
  func cells() throws {
    let table = try MachineTable(of: "EventHold", at: "Sources/Procedures/Procedure/Life.swift")
    #expect(table.rows.map(\.event) == ["keep", "await", "release", "drop"])
    let states = [EventHold(), Self.kept(.execute), Self.kept(.execute, isAwaited: true)]
    #expect(table.differences(states, named: Self.name, happen: Self.happen) == [])
  }

  @Test("O3: a held event goes on when it was released as often as it was kept")
  func counting() {
    var hold = Self.kept(.finish, times: 2, isAwaited: true)
    let first = hold.release(.finish)
    let second = hold.release(.finish)
    let third = hold.release(.finish)
    #expect(!first && second && !third && hold.event == nil && !hold.isAwaited)
  }

  @Test("O3: an event that nobody holds goes on")
  func notAwaited() {
    var hold = Self.kept(.execute)
    let goesOn = hold.release(.execute)
    #expect(!goesOn && hold.event == nil)
  }

  @Test("O3, C1: a cancel releases a turn that waits for the execute event, and no other")
  func dropping() {
    var hold = Self.kept(.execute, times: 2, isAwaited: true)
    let goesOn = hold.drop(.execute)
    #expect(goesOn && hold.event == nil && !hold.isAwaited)
    hold = Self.kept(.finish, isAwaited: true)
    let isDropped = hold.drop(.execute)
    let isReleased = hold.release(.execute)
    #expect(!isDropped && !isReleased && hold.isAwaited && hold.event == .finish)
  }
}
