import ProcedureTestSupport
import Testing

@testable import ProcedureExclusion

/// Tables with long lines. What looks through all of a line at each event does not end within the
/// time limit.
@Suite(.serialized, .hangLimit) struct TableGrowthTests {
  private static let count = Rounds.size(200_000, otherwise: 1_000)

  @Test(
    "L2: waiters for two categories are not visited again when one of them becomes free")
  func anotherCategory() async {
    await onThreadOfItsOwn {
      let requests = (0..<Self.count).map { _ in request("ab") }
      for holder in ["a", "b"] { alternate(holder, among: requests) }
    }
  }

  @Test("L2: waiters with a category of their own are not visited when a shared one becomes free")
  func ownCategories() async {
    await onThreadOfItsOwn {
      alternate("a", among: (0..<Self.count).map { request("ab", "\($0)") })
    }
  }

  private func request(_ letters: String, _ more: String...) -> ExclusionRequest {
    let names = letters.map { String($0) } + more
    return ExclusionRequest(
      CategoryLimits(names.map { CategoryLimit(CategoryID(named: $0, in: nil), atMost: 1) }),
      rank: 2)
  }

  /// One category is taken and left all the time, the other one is held.
  private func alternate(_ name: String, among requests: [ExclusionRequest]) {
    var table = ExclusionTable()
    let holders = ["a", "b"].map { request($0) }
    for holder in holders { precondition(table.ask(holder)) }
    for request in requests { precondition(!table.ask(request)) }
    for _ in 0..<Self.count {
      let index = name == "a" ? 0 : 1
      precondition(table.leave(holders[index]).isEmpty && table.ask(holders[index]))
    }
    for request in requests { _ = table.leave(request) }
  }

  @Test("L2: waiters for two categories are not visited when both are taken and left in turn")
  func inTurn() async {
    await onThreadOfItsOwn {
      var table = ExclusionTable()
      var (first, second) = (request("a"), request("b"))
      precondition(table.ask(first) && table.ask(second))
      let requests = (0..<Self.count).map { _ in request("ab") }
      for request in requests { precondition(!table.ask(request)) }
      for _ in 0..<Self.count {
        precondition(table.leave(first).isEmpty && table.ask(first))
        swap(&first, &second)
      }
      for request in requests { _ = table.leave(request) }
      _ = (table.leave(first), table.leave(second))
      precondition(table.count == 0)
    }
  }
}
