#if MODEL
  import Procedures
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct DependencyModelTests {
    @Test("X2, F3: two dependents run that are enqueued against the dependency's finish")
    func enqueueAgainstFinish() throws {
      try explore(onQueue: { model in
        let dependency = PlainProcedure()
        let dependents = [PlainProcedure(), PlainProcedure()]
        let early = PlainCounter()
        for dependent in dependents {
          dependent.add(dependency: dependency)
          dependent.addWillExecuteBlockObserver { _, _ in
            if !dependency.isFinished { early.value += 1 }
          }
        }
        model.queue.add(dependency)
        return model.scenario(threads: [
          { model.queue.add(dependents[0]) }, { model.queue.add(dependents[1]) },
        ]) {
          try checkLives(dependency, dependents[0], dependents[1])
          try require(early.value == 0, "a dependent started early")
        }
      })
    }

    @Test(
      "C2, F3: a dependent ends once when it is cancelled, or lets its dependency go, against the latter's finish"
    )
    func cancelAndRemoveAgainstFinish() throws {
      try explore(onQueue: { model in
        let (dependency, dependent) = (PlainProcedure(), PlainProcedure())
        dependent.add(dependency: dependency)
        model.queue.add(dependency, dependent)
        return model.scenario(threads: [
          { dependent.cancel() }, { dependent.remove(dependency: dependency) },
        ]) {
          try checkLives(dependency, dependent)
        }
      })
    }

    @Test("F4, C2: two dependents that are cancelled leave nothing at a dependency that never ran")
    func cancelAgainstCancel() throws {
      final class Weak: @unchecked Sendable { weak var procedure: Procedure? }
      try exploreInFull(onQueue: { model in
        let (dependents, kept) = ([PlainProcedure(), PlainProcedure()], Weak())
        do {
          let dependency = PlainProcedure()
          for dependent in dependents { dependent.add(dependency: dependency) }
          kept.procedure = dependency
        }
        model.queue.add(dependents[0])
        return model.scenario(threads: [
          {
            model.queue.add(dependents[1])
            dependents[1].cancel()
          }, { dependents[0].cancel() },
        ]) {
          try checkLives(dependents[0], dependents[1])
          try require(kept.procedure == nil, "a dependency is kept by dependents that have gone")
        }
      })
    }

    /// The procedure waits for another one all the while, so that it may be added to.
    @Test("X2, F3: a dependency that is added against two finishes is waited for")
    func addAgainstFinish() throws {
      try explore(onQueue: { model in
        let (dependency, blocker) = (PlainProcedure.lasting(), PlainProcedure.lasting())
        let dependent = PlainProcedure()
        dependent.add(dependency: blocker)
        model.start(blocker, dependency, dependent)
        return model.scenario(threads: [
          { dependency.finish() },
          {
            dependent.add(dependency: dependency)
            blocker.finish()
          },
        ]) {
          try checkLives(dependency, blocker, dependent)
        }
      })
    }

    @Test("C8: a dependent ends once when its required dependency fails against its cancel")
    func requirementAgainstCancel() throws {
      try explore(onQueue: { model in
        let (dependency, dependent) = (PlainProcedure.lasting(), PlainProcedure())
        dependent.add(dependency: dependency, requiring: .success)
        model.start(dependency, dependent)
        return model.scenario(threads: [
          { dependency.finish(withError: TestError()) }, { dependent.cancel() },
        ]) {
          try checkLives(dependency, dependent)
          try require(dependent.isCancelled && !dependent.hasExecuted, "\(dependent)")
        }
      })
    }

    /// The only one, and one of two.
    @Test(
      "C8: the last rule of a dependency counts, against the enqueue",
      arguments: [0, 1])
    func addByAnotherRuleAgainstEnqueue(others: Int) throws {
      try explore(onQueue: { model in
        let (dependency, dependent, other) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
        dependent.add(dependency: dependency)
        if others > 0 { dependent.add(dependency: other) }
        model.queue.isSuspended = true
        model.queue.add(dependency, other)
        return model.scenario(threads: [
          { model.queue.add(dependent) },
          {
            dependent.remove(dependency: dependency)
            dependent.add(dependency: dependency, requiring: .success)
            dependency.cancel()
            model.queue.isSuspended = false
          },
        ]) {
          try require(!dependent.hasExecuted, "executed by the rule that was taken back")
          try checkLives(dependency, dependent, other)
        }
      })
    }

    @Test(
      "R1, C8: a dependency that is removed before it finishes asks for nothing, against the enqueue"
    )
    func removeAgainstEnqueue() throws {
      for rule in 0..<2 {
        try explore(onQueue: { model in
          let (dependency, dependent) = (PlainProcedure.lasting(), PlainProcedure())
          let calls = PlainCounter()
          if rule == 0 {
            dependent.inject(dependency: dependency) { _, _, _ in calls.value += 1 }
          } else {
            dependent.add(dependency: dependency, requiring: .success)
          }
          model.start(dependency)
          return model.scenario(threads: [
            { model.queue.add(dependent) },
            {
              dependent.remove(dependency: dependency)
              dependency.finish(withError: TestError())
            },
          ]) {
            try require(calls.value == 0, "handed over by a dependency that was taken back")
            try require(!dependent.isCancelled, "cancelled by a dependency that was taken back")
            try checkLives(dependency, dependent)
          }
        })
      }
    }

    @Test(
      "Q2: one that must wait for a dependency after all does not take the slot it stood in line for"
    )
    func addToReady() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let (first, dependency) = (PlainProcedure.lasting(), PlainProcedure())
          let procedure = PlainProcedure()
          model.start(first, procedure)
          return model.scenario(threads: [
            {
              procedure.add(dependency: dependency)
              first.finish()
            }, { model.queue.add(dependency) },
          ]) {
            try checkLives(first, dependency, procedure)
          }
        })
    }

    @Test(
      "Q2: a procedure waits for a dependency that is added when the last one is removed, against the start"
    )
    func removeAgainstAdd() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let (dependency, blocker) = (PlainProcedure(), PlainProcedure())
          let procedure = PlainProcedure()
          procedure.add(dependency: blocker)
          return model.scenario(threads: [
            { model.queue.add(procedure) },
            {
              procedure.add(dependency: dependency)
              procedure.remove(dependency: blocker)
              model.queue.add(dependency)
            },
          ]) {
            try checkLives(dependency, procedure)
          }
        })
    }
  }
#endif
