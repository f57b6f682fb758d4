import ProcedurePrimitives
import ProcedureTestSupport
import Procedures
import Testing

/// A group goes, whose children others use: what these read of it behind a lock must be counted by
/// the time that the lock is released. In optimised code only; there four of six tries of ten
/// seconds crashed.
@Suite(.hangLimit) struct DroppedGroupRaceTests {
  /// The only one that keeps the groups.
  private final class Owner: Sendable {
    private let groups: Locked<[GroupProcedure]>

    init(_ groups: [GroupProcedure]) { self.groups = Locked(groups) }

    func dropGroups() {
      let dropped = groups.withLock { groups in
        defer { groups = [] }
        return groups
      }
      _ = dropped
    }
  }

  /// ```
  /// thread 1                            thread 2
  /// child.finish(): refused
  ///   reads the list of the child
  ///                                     the group goes, and its list
  ///   reports to the list's queue
  /// ```
  @Test("F1, F4: children may be finished, or cancelled, while their groups are being released")
  func finishOfChildren() async {
    await onThreadOfItsOwn {
      for round in 0..<Rounds.few {
        let children = (0..<100).map { _ in BlockProcedure {} as Procedure }
        let owner = Owner(children.map { GroupProcedure(children: [$0]) })
        raceOnThreads(
          { owner.dropGroups() },
          { for child in children { child.finish() } },
          { for child in children where round % 2 == 0 { child.cancel() } })
        #expect(children.allSatisfy { !$0.isExecuting })
      }
    }
  }
}
