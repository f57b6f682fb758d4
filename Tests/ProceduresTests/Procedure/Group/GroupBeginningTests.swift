import Procedures
import ProcedureTestSupport
import Testing

/// The worker that executes a group goes on with the children, unless user code comes first: that
/// may block.
@Suite(.hangLimit) struct GroupBeginningTests {
  private final class SlowGroup: GroupProcedure, @unchecked Sendable {
    let childRuns = Gate()

    override func execute() {
      add(child: BlockProcedure { [childRuns] in childRuns.open() })
      super.execute()
      childRuns.block()
    }
  }

  @Test("G1: children run while an override of execute blocks after super.execute()")
  func blockingOverride() {
    let queue = ProcedureQueue()
    let group = SlowGroup()
    queue.add(group)
    #expect(group.blockUntilFinished() == .succeeded)
  }

  @Test("G1: children run while a did-execute observer of the group blocks")
  func blockingObserver() {
    let queue = ProcedureQueue()
    let childRuns = Gate()
    let group = GroupProcedure(BlockProcedure { childRuns.open() })
    group.addDidExecuteBlockObserver { childRuns.block() }
    queue.add(group)
    #expect(group.blockUntilFinished() == .succeeded)
  }

  @Test("G1: children run while an observer blocks that is added as the group begins")
  func lateObserver() {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let childRuns = Gate()
      let group = GroupProcedure(BlockProcedure { childRuns.open() })
      queue.add(group)
      group.addDidExecuteBlockObserver { childRuns.block() }
      group.addDidCancelBlockObserver { childRuns.block() }
      #expect(group.blockUntilFinished() == .succeeded)
    }
  }

  @Test(
    "F3: a group ends after a group in it that was cancelled on no queue, and ends on one",
    arguments: 0..<6)
  func cancelledBefore(turnsOnNoQueue: Int) {
    let (detached, scheduler, clock) = (ManualScheduler(), ManualScheduler(), TestClock().clock)
    DetachedSurroundings(scheduler: detached, clock: clock).replacingDispatch {
      let inner = GroupProcedure(BlockProcedure {})
      inner.cancel()
      let outer = GroupProcedure(inner)
      for _ in 0..<turnsOnNoQueue { detached.runOne() }
      let queue = ProcedureQueue(scheduler: scheduler, clock: clock)
      queue.add(outer)
      detached.run()
      scheduler.run()
      #expect(inner.isFinished && outer.isFinished && queue.count == 0)
    }
  }

  @Test("Q4: the rest of the queue runs while a child blocks")
  func siblings() {
    let queue = ProcedureQueue()
    let othersRun = Gate()
    let group = GroupProcedure(BlockProcedure { othersRun.block() })
    queue.isSuspended = true
    queue.add(group)
    queue.add(BlockProcedure { othersRun.open() })
    queue.isSuspended = false
    #expect(group.blockUntilFinished() == .succeeded)
  }
}
