#if MODEL
  import Procedures
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct ConditionModelTests {
    /// The one slot is taken, so that the procedure cannot start, and may be added to.
    @Test("D1, F3: a dependency that is added while two workers evaluate conditions is waited for")
    func evaluationAgainstDependency() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let (finished, blocker) = (PlainProcedure(), PlainProcedure.lasting())
          model.start(finished, blocker)
          let evaluations = PlainLog<Int>()
          let procedure = PlainProcedure()
          for number in 0..<2 {
            procedure.add(
              condition: BlockCondition {
                evaluations.events.append(number)
                return true
              })
          }
          model.queue.add(procedure)
          return model.scenario(
            workers: 2,
            threads: [
              {
                procedure.add(dependency: finished)
                blocker.finish()
              }
            ]
          ) {
            try checkLives(blocker, procedure)
            try require(evaluations.events.suffix(2) == [0, 1], "\(evaluations.events)")
          }
        })
    }

    @Test(
      "D1: all conditions are evaluated that are added during the evaluation of another")
    func addAgainstEvaluation() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let blocker = PlainProcedure.lasting()
          model.start(blocker)
          let procedure = PlainProcedure()
          let evaluations = PlainLog<Int>()
          let add: @Sendable (Int) -> Void = { number in
            procedure.add(
              condition: BlockCondition {
                evaluations.events.append(number)
                return true
              })
          }
          add(1)
          model.queue.add(procedure)
          return model.scenario(threads: [
            {
              add(2)
              blocker.finish()
            }
          ]) {
            try checkLives(blocker, procedure)
            try require(Set(evaluations.events) == [1, 2], "\(evaluations.events)")
          }
        })
    }

    /// The gate does not listen to the cancel of its task: a handler that does runs under a lock of
    /// the language's runtime, where the explorer must not stop.
    @Test("D3: a procedure ends once when a condition answers against its cancel")
    func answerAgainstCancel() throws {
      try explore(onQueue: { model in
        let gate = Gate()
        let procedure = PlainProcedure()
        procedure.add(
          condition: AsyncCondition {
            await gate.wait()
            return true
          })
        model.start(procedure)
        return model.scenario(threads: [{ gate.open() }, { procedure.cancel() }]) {
          try procedure.checkLife()
        }
      })
    }

    @Test("D1: a prerequisite of two procedures is added by one of them, and both wait for it")
    func sharedPrerequisite() throws {
      try explore {
        let models = [ModelQueue(), ModelQueue()]
        let shared = BlockProcedure {}
        let condition = BlockCondition { shared.isFinished }.withPrerequisites { _ in [shared] }
        let procedures = models.map { model in
          let procedure = PlainProcedure()
          procedure.add(condition: condition)
          model.queue.add(procedure)
          return procedure
        }
        return .init(threads: [], workers: models.map(\.scheduler)) {
          for procedure in procedures {
            try procedure.checkLife()
            try require(!procedure.isCancelled, "\(procedure)")
          }
        }
      }
    }
  }
#endif
