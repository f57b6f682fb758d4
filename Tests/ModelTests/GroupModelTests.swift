#if MODEL
  import Procedures
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct GroupModelTests {
    @Test(
      "G2: two children that are added against the end of the last one are waited for, or refused")
    func addAgainstFinish() throws {
      try explore(onQueue: { model in
        let first = PlainProcedure.lasting()
        let group = GroupProcedure(first)
        model.start(group)
        let late = [PlainProcedure(), PlainProcedure()]
        let accepted = PlainLog<PlainProcedure>()
        let add: @Sendable (PlainProcedure) -> Void = { child in
          if group.add(child: child) { accepted.events.append(child) }
        }
        return model.scenario(threads: [{ first.finish() }, { add(late[0]) }, { add(late[1]) }]) {
          try require(group.isFinished, "the group did not finish")
          for child in late {
            try child.checkLife()
            try require(
              child.isCancelled != accepted.events.contains(child),
              "refused, but not ended as such")
          }
        }
      })
    }

    @Test("G8, E3: an error is reported whose cause lies in a group that was refused")
    func causeInRefusedGroup() throws {
      try explore(onQueue: { model in
        let (cause, dependent) = (PlainProcedure.lasting(), PlainProcedure())
        dependent.add(dependency: cause, requiring: .success)
        let (inner, outer) = (GroupProcedure(cause), GroupProcedure(dependent))
        let accepted = PlainLog<Bool>()
        model.start(outer)
        return model.scenario(threads: [
          { cause.cancel() }, { accepted.events.append(outer.add(child: inner)) },
        ]) {
          try require(outer.isFinished, "the group did not finish")
          try checkLives(cause, dependent)
          try require(
            outer.errors.isEmpty == accepted.events[0],
            "added: \(accepted.events[0]), and the group ends with \(outer.errors)")
        }
      })
    }

    @Test("G3: all children end when their group is cancelled while some are added and some finish")
    func cancelAgainstChildren() throws {
      try explore(onQueue: { model in
        let first = PlainProcedure.lasting()
        let group = GroupProcedure(first)
        model.start(group)
        let late = PlainProcedure.lasting()
        return model.scenario(threads: [{ group.cancel() }, { group.add(child: late) }]) {
          try require(group.isFinished, "the group did not finish")
          try require(late.isCancelled && first.isCancelled, "a child was missed")
          try checkLives(first, late)
          try require(!late.hasExecuted || group.isCancelled, "a refused child executed")
        }
      })
    }

    @Test("G3, G4: a group that is cancelled against its start ends, with a child that is added")
    func cancelAgainstStart() throws {
      try explore(onQueue: { model in
        let (first, late) = (PlainProcedure.lasting(), PlainProcedure.lasting())
        let group = GroupProcedure(first)
        model.queue.add(group)
        return model.scenario(threads: [{ group.cancel() }, { group.add(child: late) }]) {
          try require(group.isFinished, "the group did not finish")
          try require(late.isCancelled && first.isCancelled, "a child was missed")
          try checkLives(first, late)
        }
      })
    }

    @Test(
      "G3: no cancel in a tree is delivered before all of it is marked, children added meanwhile too"
    )
    func treeIsMarkedFirst() throws {
      try explore(onQueue: { model in
        let leaf = PlainProcedure.lasting()
        let inner = GroupProcedure(leaf)
        let outer = GroupProcedure(inner)
        let late = [PlainProcedure(), PlainProcedure()]
        let early = PlainCounter()
        for child in late {
          child.cancellationToken.onCancel {
            if !(outer.isCancelled && inner.isCancelled && leaf.isCancelled) { early.value += 1 }
          }
        }
        model.start(outer)
        return model.scenario(
          workers: 0,
          threads: [
            { outer.cancel() }, { outer.add(child: late[0]) },
            { inner.add(child: late[1]) },
          ]
        ) {
          try require(early.value == 0, "delivered before the tree was marked")
          try require(outer.isFinished, "the group did not finish")
          try checkLives(leaf, late[0], late[1])
          try require(late.allSatisfy(\.isCancelled), "a late child was missed")
        }
      })
    }

    @Test("G3: a group being added to a cancelled one is marked before a handler further out runs")
    func lateGroup() throws {
      try exploreLateGroup { GroupProcedure($0) }
    }

    @Test(
      "G3: a group added below two that are cancelled in turn is marked before an outer handler runs"
    )
    func lateGroupBelowAnotherCancel() throws {
      try exploreLateGroup { inner in
        let middle = GroupProcedure(inner)
        return GroupProcedure(middle)
      }
    }

    /// - Parameter wrap: makes the outer group, around the one that is cancelled first; those
    ///   between them are next.
    private func exploreLateGroup(_ wrap: (GroupProcedure) -> GroupProcedure) throws {
      try explore(onQueue: { model in
        let leaf = PlainProcedure.lasting()
        let late = GroupProcedure(leaf)
        let inner = GroupProcedure(PlainProcedure.lasting())
        let outer = wrap(inner)
        let (early, wasThere) = (PlainCounter(), PlainCounter())
        outer.cancellationToken.onCancel {
          if wasThere.value > 0, !(late.isCancelled && leaf.isCancelled) { early.value += 1 }
        }
        model.start(outer)
        inner.cancel()
        for middle in outer.children where middle !== inner { middle.cancel() }
        let threads: [@Sendable () -> Void] = [
          {
            if inner.children.contains(late) { wasThere.value += 1 }
            outer.cancel()
          }, { inner.add(child: late) },
        ]
        return model.scenario(workers: 0, threads: threads) {
          try require(early.value == 0, "a handler was called before the added group was marked")
          try require(outer.isFinished, "the group did not finish")
          try require(leaf.isCancelled, "a child of the added group was missed")
        }
      })
    }

    /// Notes whether a child is heard once its release has begun.
    private final class Mortal: GroupProcedure, @unchecked Sendable {
      private let late: PlainCounter
      private let isBeingReleased = Plain(false)

      init(_ child: Procedure, late: PlainCounter) {
        self.late = late
        super.init(children: [child])
      }

      deinit { isBeingReleased.value = true }

      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] {
        if isBeingReleased.value { late.value += 1 }
        return errors
      }
    }

    @Test("F4: a child may ask its group while that is released on no queue")
    func releasedGroup() throws {
      try exploreInFull {
        let child = PlainProcedure.lasting()
        let (owner, late) = (PlainLog<GroupProcedure>(), PlainCounter())
        owner.events.append(Mortal(child, late: late))
        return .init(threads: [{ owner.events.removeAll() }, { child.cancel() }], workers: []) {
          try require(child.isFinished, "the child did not finish")
          try require(late.value == 0, "a group was asked that was being released")
        }
      }
    }

    @Test("G2, F3: a child that is added against the end of the last one, and cancelled, finishes")
    func addAndCancelAgainstFinish() throws {
      try explore(onQueue: { model in
        let (first, late) = (PlainProcedure.lasting(), PlainProcedure.lasting())
        let group = GroupProcedure(first)
        model.start(group)
        first.finish()
        return model.scenario(threads: [
          {
            group.add(child: late)
            late.cancel()
          }
        ]) {
          try require(group.isFinished, "the group did not finish")
          try late.checkLife()
        }
      })
    }

    @Test("G1: a child that is added while its group goes to the queue runs")
    func addAgainstEnqueue() throws {
      try explore(onQueue: { model in
        let (inner, outer) = (GroupProcedure(), GroupProcedure())
        let leaf = PlainProcedure()
        outer.add(child: inner)
        return model.scenario(threads: [
          { model.queue.add(outer) }, { inner.add(child: leaf) },
        ]) {
          try leaf.checkLife()
          try require(outer.isFinished && inner.isFinished, "a group did not finish")
        }
      })
    }

    @Test("G6: a child that is added against a failure that cancels the rest is cancelled")
    func failureAgainstAdd() throws {
      try explore(onQueue: { model in
        let (first, second) = (PlainProcedure.lasting(), PlainProcedure.lasting())
        let group = GroupProcedure(first, second)
        group.failurePolicy = .cancelRemaining
        model.start(group)
        let late = PlainProcedure.lasting()
        return model.scenario(threads: [
          { first.finish(withError: TestError()) }, { group.add(child: late) },
        ]) {
          try require(group.isFinished && group.failed, "the group did not finish")
          try checkLives(first, second, late)
          try require(second.isCancelled && late.isCancelled, "a child was missed")
        }
      })
    }

    @Test(
      "G9, C3: a suspended group ends when it is cancelled against a resume and a child that is added"
    )
    func suspendedAgainstCancel() throws {
      try explore(onQueue: { model in
        let first = PlainProcedure.lasting()
        let group = GroupProcedure(first)
        group.isSuspended = true
        model.start(group)
        return model.scenario(threads: [{ group.cancel() }, { group.isSuspended = false }]) {
          try require(group.isFinished && group.isCancelled, "the group did not finish")
          try first.checkLife()
        }
      })
    }

    /// Hears its children; notes whether two of its turns overlap.
    private final class Hearing: GroupProcedure, @unchecked Sendable {
      let hearings = PlainCounter()
      let inside = PlainCounter()

      override func child(
        _ child: Procedure, willFinishWithErrors errors: [any Error]
      ) -> [any Error] {
        inside.value += 1
        hearings.value += 1
        // A step in which another thread may come in.
        if child.isFinished { inside.value += 1 }
        inside.value -= 1
        return []
      }
    }

    @Test(
      "G7, T1: a group decides about children of two workers one at a time, before they have finished"
    )
    func hearing() throws {
      try explore(onQueue: { model in
        let children = [PlainProcedure.lasting(), PlainProcedure.lasting()]
        let group = Hearing(children: children)
        model.start(group)
        children[0].finish()
        return model.scenario(workers: 2, threads: [{ children[1].finish() }]) {
          try checkLives(children[0], children[1])
          try require(group.isFinished, "the group did not finish")
          try require(group.hearings.value == 2, "heard \(group.hearings.value) of 2")
          try require(group.inside.highest == 1, "heard two at a time, or too late")
        }
      })
    }

    @Test("G9: two workers keep to a limit of one child, and lose none that is added")
    func limit() throws {
      try explore(onQueue: { model in
        let running = PlainCounter()
        let children = (0..<3).map { _ in PlainProcedure(running: running) }
        let group = GroupProcedure(children[0], children[1])
        group.maxConcurrentChildCount = 1
        let accepted = PlainLog<Bool>()
        model.queue.add(group)
        return model.scenario(
          workers: 2,
          threads: [
            { accepted.events.append(group.add(child: children[2])) }
          ]
        ) {
          try checkLives(children[0], children[1], children[2])
          try require(running.highest == 1, "\(running.highest) ran at once")
          try require(children[2].isCancelled != accepted.events[0], "refused, but not ended")
        }
      })
    }
  }
#endif
