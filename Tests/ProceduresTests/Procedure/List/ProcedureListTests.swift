import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite struct ProcedureListTests {
  @Test("G5: of two cancels of a list the first one's errors are those of what is added later")
  func firstCancelCounts() {
    let list = ProcedureList(childrenOf: GroupReference())
    let first = TreeCancel(errors: [TestError("first")], reason: .requested)
    #expect(list.cancel(first).isEmpty)
    #expect(list.cancel(TreeCancel(errors: [TestError("second")], reason: .requested)).isEmpty)
    let standing = Placement(urgency: Urgency(), readiness: .waiting)
    var seen: TreeCancel?
    let procedure = TracedProcedure()
    let (insertion, _) = list.insert(procedure, standing, asking: nil) { seen = $0 }
    #expect(seen === first && insertion == .accepted(isAnnounced: false))
    _ = list.abandon()
  }
}
