#if MODEL
  import Cancellation
  import Procedures
  import ProcedureTestSupport
  import Testing

  /// The list of a group is closed with the group's flag; and all children are reached, however
  /// they came.
  @Suite(.serialized, .hangLimit) struct ClosedGroupModelTests {
    /// Adds a child once the group reads cancelled, and notes whether it then reads uncancelled, or
    /// executes.
    private final class LateChild: Sendable {
      let procedure = PlainProcedure()
      let uncancelled = PlainCounter()

      func add(to group: GroupProcedure) {
        guard group.isCancelled else { return }
        if group.add(child: procedure), !procedure.isCancelled { uncancelled.value += 1 }
      }

      func check() throws {
        try require(
          uncancelled.value == 0, "added to a group that reads cancelled, and uncancelled")
        try require(!procedure.hasExecuted, "a child of a cancelled group executed")
      }
    }

    @Test(
      "G5: a child that is added to a group that reads cancelled is cancelled, during the walk through a tree"
    )
    func addWhileWalked() throws {
      try explore(onQueue: { model in
        let (leaf, other) = (PlainProcedure.lasting(), PlainProcedure.lasting())
        let (inner, late) = (GroupProcedure(leaf), LateChild())
        let outer = GroupProcedure(inner, GroupProcedure(other))
        model.start(outer)
        return model.scenario(threads: [{ outer.cancel() }, { late.add(to: inner) }]) {
          try late.check()
          try require(outer.isFinished, "the group did not finish")
          try checkLives(leaf, other)
        }
      })
    }

    @Test("G5: a child is cancelled in a group that a worker has marked ahead of its token")
    func addWhenMarkedAhead() throws {
      try explore(onQueue: { model in
        let (source, late) = (CancellationTokenSource(), LateChild())
        let leaf = PlainProcedure.lasting()
        let group = GroupProcedure(leaf)
        model.queue.add(group, cancelledBy: source.token)
        return model.scenario(threads: [{ source.cancel() }, { late.add(to: group) }]) {
          try late.check()
          try require(group.isFinished && leaf.isCancelled, "the group did not finish")
        }
      })
    }

    @Test("G3, G5: a child is cancelled in a group that is being added to a cancelled one")
    func addWhileGroupIsAdded() throws {
      try explore(onQueue: { model in
        let (leaf, late) = (PlainProcedure.lasting(), LateChild())
        let inner = GroupProcedure(leaf)
        let outer = GroupProcedure(PlainProcedure.lasting())
        let early = PlainCounter()
        late.procedure.cancellationToken.onCancel {
          if inner.isCancelled, !leaf.isCancelled { early.value += 1 }
        }
        model.start(outer)
        outer.cancel()
        return model.scenario(
          workers: 0, threads: [{ outer.add(child: inner) }, { late.add(to: inner) }]
        ) {
          try late.check()
          try require(early.value == 0, "delivered before the children beside it were marked")
          try require(outer.isFinished && inner.isFinished, "a group did not finish")
        }
      })
    }

    /// Its children get a worker of their own, as those of any subclass.
    private final class Subclass: GroupProcedure, @unchecked Sendable {}

    @Test(
      "G1, C7: a group runs its other children though one was cancelled before, and has its turn")
    func madeWithCancelledChild() throws {
      // Three: the turn begins, a child arrives while it leaves the list, and another one behind
      // that.
      try explore(
        preemptions: 3,
        onQueue: { model in
          let (cancelled, first, leaf) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
          let inner = Subclass(leaf)
          inner.add(dependency: first)
          let made = PlainLog<GroupProcedure>()
          cancelled.cancel()
          return model.scenario(
            workers: 0,
            threads: [
              {
                let group = GroupProcedure(children: [cancelled, first, inner])
                made.events.append(group)
                model.queue.add(group)
              }
            ]
          ) {
            try require(made.events[0].isFinished && inner.isFinished, "a group did not finish")
            try checkLives(cancelled, first, leaf)
          }
        })
    }
  }
#endif
