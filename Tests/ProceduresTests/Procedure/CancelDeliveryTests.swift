import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of a cancel's delivery: every event in every state.
@Suite(.hangLimit) struct CancelDeliveryTests {
  private static let path = "Sources/Procedures/Procedure/Life.swift"

  private static func happen(_ event: String, to cancel: inout CancelDelivery) {
    switch event {
    case "mark": cancel.mark()
    case "allow": cancel.allow()
    case "deliver": cancel.deliver()
    default: Issue.record("unknown event: \(event)")
    }
  }

  @Test("C1: each event does in each state what the table says")
  func cells() throws {
    let table = try MachineTable(of: "CancelDelivery", at: Self.path)
    #expect(table.rows.map(\.event) == ["mark", "allow", "deliver"])
    #expect(table.differences(CancelDelivery.allCases, happen: Self.happen) == [])
  }

  @Test("C1: other user code waits from the mark to the delivery")
  func due() {
    #expect(CancelDelivery.allCases.map(\.isDue) == [false, true, true, false])
    #expect(CancelDelivery.allCases.map(\.isAllowed) == [false, false, true, true])
  }

  @Test("C1: an event that is impossible in its state traps")
  func traps() async throws {
    let traps = try MachineTable(of: "CancelDelivery", at: Self.path).traps
    #expect(traps.count == 9)
    for (event, state) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event as String, state = state as String] in
        guard var cancel = CancelDelivery.allCases.first(where: { "\($0)" == state }) else {
          return
        }
        Self.happen(event, to: &cancel)
      }
    }
  }
}
