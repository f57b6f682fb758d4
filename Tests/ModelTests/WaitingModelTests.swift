#if MODEL
  import Procedures
  import TestSupport
  import Testing

  /// Conditions and exclusion: what a procedure waits for, against whatever else happens to it.
  @Suite(.serialized) struct WaitingModelTests {
    private let domain = ExclusionDomain(name: "model")

    /// Notes how many of its kind execute at once, without a lock.
    private final class Exclusive: Procedure, @unchecked Sendable {
      let running: PlainCounter
      let finishes = PlainCounter()
      let tooMany = PlainCounter()

      init(_ domain: ExclusionDomain, _ running: PlainCounter) {
        self.running = running
        super.init()
        add(condition: MutuallyExclusive(named: "model", in: domain))
      }
      override func execute() {
        running.value += 1
        if running.value > 1 { tooMany.value += 1 }
      }
      override func procedureDidCancel(withErrors errors: [any Error]) {
        if isExecuting { finish() }
      }
      override func procedureDidFinish(withErrors errors: [any Error]) {
        if running.value > 0 { running.value -= 1 }
        finishes.value += 1
      }
    }

    private func checkLives(_ procedures: [Exclusive]) throws {
      for (index, procedure) in procedures.enumerated() {
        try require(procedure.isFinished, "\(index) did not finish")
        try require(procedure.finishes.value == 1, "\(index) finished more than once")
        try require(procedure.tooMany.value == 0, "\(index) was not alone")
      }
    }

    /// Ends what executes until nothing does.
    private func runToTheEnd(_ schedulers: [ManualScheduler], _ procedures: [Exclusive]) {
      for _ in 0..<(procedures.count * 2) {
        for scheduler in schedulers { scheduler.run() }
        for procedure in procedures where procedure.isExecuting { procedure.finish() }
      }
    }

    @Test("L1, L4: an offer to another queue against the cancel of who it is for")
    func offerAgainstCancel() throws {
      _ = try Explorer().explore {
        let schedulers = (0..<3).map { _ in ManualScheduler() }
        let running = PlainCounter()
        let procedures = (0..<3).map { _ in Exclusive(domain, running) }
        for (scheduler, procedure) in zip(schedulers, procedures) {
          ProcedureQueue(scheduler: scheduler).add(procedure)
          scheduler.run()
        }
        procedures[0].finish()
        return .init(threads: [{ schedulers[0].run() }, { procedures[1].cancel() }]) {
          runToTheEnd(schedulers, procedures)
          try checkLives(procedures)
        }
      }
    }

    @Test("L1: an offer against a dependency that is added to who it is for")
    func offerAgainstDependency() throws {
      _ = try Explorer().explore {
        let schedulers = (0..<3).map { _ in ManualScheduler() }
        let running = PlainCounter()
        let procedures = (0..<3).map { _ in Exclusive(domain, running) }
        for (scheduler, procedure) in zip(schedulers, procedures) {
          ProcedureQueue(scheduler: scheduler).add(procedure)
          scheduler.run()
        }
        let finished = BlockProcedure {}
        ProcedureQueue(scheduler: schedulers[2]).add(finished)
        schedulers[2].run()
        procedures[0].finish()
        return .init(
          threads: [
            { schedulers[0].run() },
            {
              procedures[1].add(dependency: finished)
              schedulers[1].run()
            },
          ]
        ) {
          runToTheEnd(schedulers, procedures)
          try checkLives(procedures)
        }
      }
    }

    @Test("L1, Q3: a grant against suspending its queue: nobody is lost, nobody overlaps")
    func grantAgainstSuspend() throws {
      _ = try Explorer().explore {
        let (scheduler, other) = (ManualScheduler(), ManualScheduler())
        let queue = ProcedureQueue(scheduler: scheduler)
        let running = PlainCounter()
        let procedures = (0..<3).map { _ in Exclusive(domain, running) }
        ProcedureQueue(scheduler: other).add(procedures[0])
        other.run()
        queue.add(procedures[1], procedures[2])
        scheduler.run()
        procedures[0].finish()
        return .init(
          threads: [
            { other.run() }, { scheduler.run() },
            {
              queue.isSuspended = true
              queue.isSuspended = false
            },
          ]
        ) {
          runToTheEnd([scheduler, other], procedures)
          try checkLives(procedures)
        }
      }
    }

    @Test("L1: grants to two queues against each other's end")
    func twoEnds() throws {
      _ = try Explorer().explore {
        let schedulers = (0..<2).map { _ in ManualScheduler() }
        let running = PlainCounter()
        let procedures = (0..<4).map { _ in Exclusive(domain, running) }
        let queues = schedulers.map { ProcedureQueue(scheduler: $0) }
        for (index, procedure) in procedures.enumerated() { queues[index % 2].add(procedure) }
        return .init(threads: schedulers.map { scheduler in { scheduler.run() } }) {
          runToTheEnd(schedulers, procedures)
          try checkLives(procedures)
        }
      }
    }

    /// The one slot is taken, so that the procedure cannot start, and may be added to.
    @Test("D1, F3: two workers against a dependency added while conditions are evaluated")
    func evaluationAgainstDependency() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
        let (finished, blocker) = (BlockProcedure {}, Procedure.executing())
        for procedure in [finished, blocker] {
          queue.add(procedure)
          scheduler.run()
        }
        let evaluations = PlainLog<Int>()
        let procedure = BlockProcedure {}
        for number in 0..<2 {
          procedure.add(
            condition: BlockCondition {
              evaluations.events.append(number)
              return true
            })
        }
        queue.add(procedure)
        return .init(
          threads: [
            { scheduler.run() },
            {
              procedure.add(dependency: finished)
              scheduler.run()
            },
          ]
        ) {
          scheduler.run()
          blocker.finish()
          scheduler.run()
          try require(procedure.isFinished, "not finished after \(evaluations.events)")
          try require(queue.count == 0, "still on the queue")
          try require(evaluations.events.suffix(2) == [0, 1], "\(evaluations.events)")
        }
      }
    }

    /// The gate does not listen to the cancel of its task: a handler that does runs under a lock of
    /// the language's runtime, where the explorer must not stop.
    @Test("D3: the answer of a condition against the cancel: it ends once, cancelled or run")
    func answerAgainstCancel() throws {
      _ = try Explorer().explore {
        let scheduler = ManualScheduler()
        let queue = ProcedureQueue(scheduler: scheduler)
        let gate = Gate()
        let executions = PlainCounter()
        let procedure = BlockProcedure { executions.value += 1 }
        procedure.add(
          condition: AsyncCondition {
            await gate.wait()
            return true
          })
        queue.add(procedure)
        scheduler.run()
        return .init(
          threads: [
            {
              gate.open()
              scheduler.run()
            },
            { procedure.cancel() },
          ]
        ) {
          scheduler.run()
          try require(procedure.isFinished && queue.count == 0, "not finished")
          try require(executions.value == 1 || procedure.isCancelled, "neither run nor cancelled")
        }
      }
    }

    @Test("D1: what two procedures bring is added by one of them, and waited for by both")
    func sharedPrerequisite() throws {
      _ = try Explorer().explore {
        let schedulers = [ManualScheduler(), ManualScheduler()]
        let shared = BlockProcedure {}
        let condition = BlockCondition { shared.isFinished }.withPrerequisites { _ in [shared] }
        let procedures = schedulers.map { scheduler in
          let procedure = BlockProcedure {}
          procedure.add(condition: condition)
          ProcedureQueue(scheduler: scheduler).add(procedure)
          return procedure
        }
        return .init(threads: schedulers.map { scheduler in { scheduler.run() } }) {
          for _ in 0..<3 { for scheduler in schedulers { scheduler.run() } }
          for procedure in procedures {
            try require(procedure.isFinished && !procedure.isCancelled, "\(procedure)")
          }
        }
      }
    }
  }

  extension Procedure {
    /// One that executes until it is told to finish.
    fileprivate static func executing() -> Procedure { TracedProcedure(end: .whenTold) }
  }
#endif
