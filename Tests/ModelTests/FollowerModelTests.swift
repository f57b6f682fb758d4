#if MODEL
  import Cancellation
  import Procedures
  import ProcedureTestSupport
  import Testing

  /// Procedures that are cancelled with a token.
  @Suite(.serialized, .hangLimit) struct FollowerModelTests {
    @Test(
      "K12: no procedure begins once its token, or one that this follows, was seen to be cancelled")
    func beginsAgainstToken() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure()
        let (source, seen) = (CancellationTokenSource(), PlainCounter())
        let linked = CancellationTokenSource(linkedTo: source.token)
        model.queue.isSuspended = true
        model.queue.add(procedure, cancelledBy: linked.token)
        source.token.onCancel {
          if !procedure.isCancelled, !procedure.hasExecuted { seen.value += 100 }
        }
        return model.scenario(threads: [
          { source.cancel() },
          {
            if linked.isCancelled { seen.value += 1 }
            model.queue.isSuspended = false
          },
        ]) {
          try procedure.checkLife()
          try require(seen.value < 100, "a handler was called before it was marked")
          try require(
            seen.value == 0 || !procedure.hasExecuted, "it began after its token was seen cancelled"
          )
        }
      })
    }

    @Test("K12: no procedure executes after an observer saw that its token was cancelled")
    func seenByObserver() throws {
      try explore(onQueue: { model in
        let procedure = PlainProcedure()
        let (source, seen) = (CancellationTokenSource(), PlainCounter())
        procedure.addWillExecuteBlockObserver { _, _ in
          if source.isCancelled { seen.value += 1 }
        }
        model.queue.add(procedure, cancelledBy: source.token)
        return model.scenario(threads: [{ source.cancel() }]) {
          try procedure.checkLife()
          try require(
            seen.value == 0 || !procedure.hasExecuted, "it began after its token was seen cancelled"
          )
        }
      })
    }

    @Test("K12: a handler that comes late runs when all procedures on the token read cancelled")
    func lateHandler() throws {
      try explore(onQueue: { model in
        let (source, early) = (CancellationTokenSource(), PlainCounter())
        let (first, second) = model.addPair(onTokenOf: source)
        return model.scenario(threads: [
          { source.cancel() },
          {
            source.token.onCancel {
              if !first.isCancelled || !second.isCancelled { early.value += 1 }
            }
          },
        ]) {
          try require(early.value == 0, "a late handler was called before all were marked")
          try checkLives(first, second)
        }
      })
    }

    @Test("K12: handlers run when all are marked, though two cancels meet in a combination")
    func cancelsThatMeet() throws {
      try explore(onQueue: { model in
        let (one, other) = (CancellationTokenSource(), CancellationTokenSource())
        let (procedure, early) = (PlainProcedure(), PlainCounter())
        model.queue.isSuspended = true
        model.queue.add(procedure, cancelledBy: one.token || other.token)
        for source in [one, other] {
          source.token.onCancel { if !procedure.isCancelled { early.value += 1 } }
        }
        return model.scenario(threads: [{ one.cancel() }, { other.cancel() }]) {
          try require(early.value == 0, "a handler was called before the procedure was marked")
          try procedure.checkLife()
        }
      })
    }

    @Test("K12, G3: a group being cancelled is marked as a whole before a handler is called")
    func groupBeingCancelled() throws {
      try explore(onQueue: { model in
        let (source, early) = (CancellationTokenSource(), PlainCounter())
        let child = PlainProcedure()
        let group = GroupProcedure(child)
        model.queue.isSuspended = true
        model.queue.add(group, cancelledBy: source.token)
        source.token.onCancel { if !child.isCancelled { early.value += 1 } }
        return model.scenario(threads: [{ source.cancel() }, { group.cancel() }]) {
          try require(early.value == 0, "a handler was called before the child was marked")
          try child.checkLife()
          try require(group.isFinished, "the group has not finished")
        }
      })
    }

    @Test("K12: no cancel is delivered before all procedures on the token read cancelled")
    func deliveredAfterAllAreMarked() throws {
      try explore(onQueue: { model in
        let (source, early) = (CancellationTokenSource(), PlainCounter())
        let (first, second) = model.addPair(onTokenOf: source)
        for (one, other) in [(first, second), (second, first)] {
          one.addDidCancelBlockObserver { _, _ in
            if !other.isCancelled, !other.hasExecuted { early.value += 1 }
          }
        }
        return model.scenario(threads: [
          { source.cancel() }, { model.queue.isSuspended = false },
        ]) {
          try require(early.value == 0, "a cancel was delivered before all were marked")
          try checkLives(first, second)
        }
      })
    }

    @Test(
      "K12: a procedure on its token is marked before the handlers of each source of the cancel")
    func severalCauses() throws {
      let causes: [@Sendable (Procedure, CancellationTokenSource, ProcedureQueue) -> Void] = [
        { _, other, _ in other.cancel() }, { cause, _, _ in cause.cancel() },
        { _, _, queue in queue.cancelAll() },
      ]
      for cancel in causes {
        try explore(onQueue: { model in
          let (one, other) = (CancellationTokenSource(), CancellationTokenSource())
          let (early, cause, last) = (PlainCounter(), PlainProcedure(), PlainProcedure())
          model.queue.isSuspended = true
          model.queue.add(cause, cancelledBy: one.token)
          cause.cancel(when: other.token)
          last.cancel(when: cause.cancellationToken)
          for source in [one, other] {
            source.token.onCancel { if !last.isCancelled { early.value += 1 } }
          }
          return model.scenario(threads: [
            { one.cancel() }, { cancel(cause, other, model.queue) },
          ]) {
            try require(early.value == 0, "a handler was called before the last one was marked")
            try cause.checkLife()
          }
        })
      }
    }

    @Test("K12: a procedure on the token of another is marked with that one")
    func chain() throws {
      try explore(onQueue: { model in
        let (source, early) = (CancellationTokenSource(), PlainCounter())
        let (first, last) = (PlainProcedure(), PlainProcedure())
        model.queue.isSuspended = true
        model.queue.add(first, cancelledBy: source.token)
        model.queue.add(last, cancelledBy: first.cancellationToken)
        return model.scenario(threads: [
          { source.cancel() },
          { source.token.onCancel { if !last.isCancelled { early.value += 1 } } },
        ]) {
          try require(early.value == 0, "a handler was called before the last one was marked")
          try checkLives(first, last)
        }
      })
    }
  }

  extension ModelQueue {
    /// Two procedures on the queue, which is suspended from here on.
    fileprivate func addPair(
      onTokenOf source: CancellationTokenSource
    ) -> (PlainProcedure, PlainProcedure) {
      let pair = (PlainProcedure(), PlainProcedure())
      queue.isSuspended = true
      queue.add(pair.0, cancelledBy: source.token)
      queue.add(pair.1, cancelledBy: source.token)
      return pair
    }
  }
#endif
