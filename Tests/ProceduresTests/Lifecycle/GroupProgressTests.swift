import ProcedureTestSupport
import Testing

@testable import Procedures

/// The table at the head of a group's progress: every event in every stage.
@Suite struct GroupProgressTests {
  private static let path = "Sources/Procedures/Lifecycle/GroupProgress.swift"

  /// Whether it is a step of the turn.
  private static func happen(_ event: String, to progress: inout GroupProgress) -> Bool {
    switch event {
    case "announce": return progress.announce()
    case "settle": return progress.settle()
    case "end": progress.end()
    default: Issue.record("unknown event: \(event)")
    }
    return false
  }

  @Test("G2: each event does in each stage what the table says")
  func cells() throws {
    let table = try MachineTable(at: Self.path)
    #expect(table.rows.map(\.event) == ["announce", "settle", "end"])
    #expect(table.differences(GroupProgress.allCases) { _ = Self.happen($0, to: &$1) } == [])
  }

  @Test("G1, G2: what changes something is a step of the turn, once")
  func steps() {
    for stage in GroupProgress.allCases {
      for event in ["announce", "settle"] {
        var progress = stage
        #expect(Self.happen(event, to: &progress) == (progress != stage))
        #expect(!Self.happen(event, to: &progress))
      }
    }
  }

  @Test("G2: what must not happen traps")
  func traps() async throws {
    let traps = try MachineTable(at: Self.path).traps
    #expect(traps.count == 4)
    for (event, stage) in traps {
      await #expect(processExitsWith: .failure) {
        [event = event as String, stage = stage as String] in
        guard var progress = GroupProgress.allCases.first(where: { "\($0)" == stage })
        else { return }
        _ = Self.happen(event, to: &progress)
      }
    }
  }
}
