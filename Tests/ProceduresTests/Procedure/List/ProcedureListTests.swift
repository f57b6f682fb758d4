import Cancellation
import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct ProcedureListTests {
  @Test("G5: a later child gets the errors of the first of two cancels of a list")
  func firstCancelCounts() {
    let list = ProcedureList(childrenOf: GroupReference())
    var cancels: [TreeCancel] = []
    for name in ["first", "second"] {
      let rest = FollowerWalk.begin { walk, _ in
        cancels.append(TreeCancel(errors: [TestError(name)], reason: .requested, walk: walk))
        _ = list.cancel(cancels[cancels.count - 1])
      }
      rest()
    }
    let standing = EnqueueRequest(urgency: Urgency(), readiness: .waiting)
    var seen: TreeCancel?
    let procedure = TracedProcedure()
    let (insertion, _) = procedure.withCore { _ in
      list.insert(procedure, standing, asking: nil) { seen = $0 }
    }
    #expect(seen === cancels[0] && insertion == .accepted(isAnnounced: false))
    _ = list.abandon()
  }

  #if DEBUG
    @Test("without the lock of a procedure, its list refuses the call in a debug build")
    func withoutLockOfProcedure() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let list = ProcedureList(childrenOf: GroupReference())
        list.withdraw(Procedure())
      }
      #expect(message(of: result).contains("does not hold the lock of a LockByte"))
    }

    @Test("without the lock of a list, its holders cannot be read in a debug build")
    func withoutLockOfList() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let list = ProcedureList(childrenOf: GroupReference())
        list.locked { _ in list.assertHeld() }
        list.assertHeld()
      }
      #expect(message(of: result).contains("does not hold the lock of an OwnedLock"))
    }
  #endif
}
