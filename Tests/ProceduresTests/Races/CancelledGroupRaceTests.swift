import Dispatch
import ProcedureTestSupport
import Procedures
import Testing

/// Groups with children that were cancelled before, and groups that are cancelled as a part of a
/// large tree.
@Suite(.serialized, .hangLimit) struct CancelledGroupRaceTests {
  @Test("G1, C7: a group with a child that was cancelled before runs the others")
  func madeWithCancelledChild() async {
    for round in 0..<Rounds.size(5_000, otherwise: 100) {
      let cancelled = TracedProcedure()
      cancelled.cancel()
      let plain = (0..<1 + round % 300).map { _ in TracedProcedure() }
      let inner = GroupProcedure(TracedProcedure())
      inner.add(dependency: plain[0])
      let group = GroupProcedure(children: [cancelled, GroupProcedure()] + plain + [inner])
      if round % 3 == 0 { group.keepsFinishedChildren = false }
      let announced = Recorder<Int>()
      group.addWillAddProcedureBlockObserver { _, _ in announced.note(0) }
      let outcome = await ProcedureQueue().run(group)
      #expect(outcome.isSuccess && inner.outcome?.isSuccess == true, "\(outcome)")
      #expect(announced.events.count <= plain.count + 3)
    }
  }

  @Test(
    "G5: a child that is added to a group that reads cancelled is cancelled, however large the tree"
  )
  func addedWhileWalked() async {
    for _ in 0..<Rounds.size(300, otherwise: 5) {
      let target = GroupProcedure(TracedProcedure(end: .whenToldOrCancelled))
      let large = GroupProcedure(
        children: (0..<Rounds.size(20_000, otherwise: 2_000)).map { _ in
          TracedProcedure(end: .whenToldOrCancelled)
        })
      large.maxConcurrentChildCount = 1
      let root = GroupProcedure(target, large)
      let queue = ProcedureQueue()
      queue.add(root)
      while !target.isExecuting { await Task.yield() }
      let late = TracedProcedure()
      let added = Gate()
      let read = Recorder<Bool>()
      DispatchQueue.global().async {
        while !target.isCancelled {}
        if target.add(child: late) { read.note(late.isCancelled) }
        added.open()
      }
      root.cancel()
      await added.wait()
      await root.waitUntilFinished()
      await late.waitUntilFinished()
      #expect(!read.events.contains(false), "added to a cancelled group, and uncancelled")
      #expect(late.isCancelled)
    }
  }

  @Test("G3: a queue and a group on it that are cancelled at once: all below reads cancelled")
  func cancelledTwiceAtOnce() async {
    for _ in 0..<Rounds.size(2_000, otherwise: 100) {
      let leaves = (0..<20).map { _ in TracedProcedure(end: .whenToldOrCancelled) }
      let inner = GroupProcedure(children: leaves)
      inner.maxConcurrentChildCount = 1
      let root = GroupProcedure(inner)
      let queue = ProcedureQueue()
      queue.add(root)
      let done = Gate()
      DispatchQueue.global().async {
        queue.cancelAll()
        done.open()
      }
      root.cancel()
      #expect(root.isCancelled && inner.isCancelled && leaves.allSatisfy(\.isCancelled))
      await done.wait()
      await root.waitUntilFinished()
    }
  }
}
