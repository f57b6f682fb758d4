#if MODEL
  import Dispatch
  import Procedures
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct QueueModelTests {
    @Test("Q3: nothing is lost when a queue is suspended against an add and a worker")
    func suspendAgainstAdd() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let (first, second) = (PlainProcedure(), PlainProcedure())
          model.queue.add(first)
          return model.scenario(threads: [
            { model.queue.add(second) },
            {
              model.queue.isSuspended = true
              model.queue.isSuspended = false
            },
          ]) {
            try checkLives(first, second)
          }
        })
    }

    /// Each changes one thing and reads the other's, and no lock is around both:
    ///
    ///     add(second)                   worker, which comes for the turn of the first
    ///     arrives, without the lock     notes that no worker is coming
    ///     reads that: one is            looks at the arrivals: none
    @Test("F3: a worker that comes for a turn leaves no added procedure behind")
    func addAgainstTurn() throws {
      try explore(onQueue: { model in
        let (first, second) = (PlainProcedure.lasting(), PlainProcedure())
        model.start(first)
        first.finish()
        return model.scenario(threads: [{ model.queue.add(second) }]) {
          try checkLives(first, second)
        }
      })
    }

    @Test("Q6: a member and the one that it adds both run when their queue is released")
    func released() throws {
      try exploreInFull {
        let scheduler = ModelScheduler()
        let owner = PlainLog<ProcedureQueue>()
        owner.events.append(ProcedureQueue(scheduler: scheduler))
        // Kept by the queue's list, as long as that lives.
        var tracer: PlainCounter? = PlainCounter()
        owner.events[0].diagnosticsHandler = { [tracer] _ in tracer?.value += 1 }
        weak let kept = tracer
        tracer = nil
        // Neither is kept by a worker once it executes.
        let (first, second) = (PlainProcedure.lasting(), PlainProcedure.lasting())
        let produced = PlainCounter()
        owner.events[0].add(first)
        scheduler.run()
        return .init(
          threads: [
            {
              owner.events.removeAll()
              first.finish()
            },
            {
              // Refused once the first has finished.
              if (try? first.produce(second)) != nil { produced.value += 1 }
            },
          ], workers: [scheduler]
        ) {
          scheduler.run()
          try checkLives(first)
          if produced.value > 0 {
            second.finish()
            scheduler.run()
            try checkLives(second)
          }
          try require(kept == nil, "the list of a queue that has gone is left")
        }
      }
    }

    /// Counts where `low` executes before `urgent` has.
    private func countEarly(_ low: PlainProcedure, before urgent: PlainProcedure) -> PlainCounter {
      let early = PlainCounter()
      urgent.priority = .high
      low.addWillExecuteBlockObserver { _, _ in
        if !urgent.hasExecuted { early.value += 1 }
      }
      return early
    }

    @Test("Q12: a batch starts as one against a worker and the cancel of a member")
    func batch() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let (low, cancelled, urgent) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
          let early = countEarly(low, before: urgent)
          return model.scenario(threads: [
            { model.queue.add(low, cancelled, urgent) }, { cancelled.cancel() },
          ]) {
            try checkLives(low, cancelled, urgent)
            try require(early.value == 0, "one of a batch started before all were members")
          }
        })
    }

    @Test("Q12, F3: a member of a batch is not lost when its dependency ends during the add")
    func batchAgainstDependency() throws {
      try explore(onQueue: { model in
        let (first, dependent, last) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
        dependent.add(dependency: first)
        model.queue.add(first)
        return model.scenario(threads: [{ model.queue.add(dependent, last) }]) {
          try checkLives(first, dependent, last)
        }
      })
    }

    @Test(
      "Q12, G2: children that are added in one call against the last child's end start as one batch"
    )
    func batchOfChildren() throws {
      try explore(onQueue: { model in
        let (first, low, urgent) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
        let early = countEarly(low, before: urgent)
        let group = GroupProcedure(first)
        group.maxConcurrentChildCount = 1
        model.queue.add(group)
        return model.scenario(threads: [{ group.add(children: low, urgent) }]) {
          for procedure in [first, low, urgent] { try procedure.checkLife() }
          try require(group.isFinished, "the group did not finish")
          try require(early.value == 0, "one of a batch started before all were members")
        }
      })
    }

    @Test(
      "Q3: a suspended queue starts nothing, whatever workers are on their way")
    func suspended() throws {
      try explore(onQueue: { model in
        let (first, second) = (PlainProcedure(), PlainProcedure())
        model.queue.add(first)
        let early = PlainCounter()
        return model.scenario(
          workers: 2,
          threads: [
            {
              model.queue.isSuspended = true
              model.queue.add(second)
              if second.state != .pending { early.value += 1 }
              model.queue.isSuspended = false
            }
          ]
        ) {
          try checkLives(first, second)
          try require(early.value == 0, "it started in a suspended queue")
        }
      })
    }

    @Test("Q2: two workers keep to a limit of one, and lose nothing that two threads add")
    func limit() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let running = PlainCounter()
          let procedures = (0..<3).map { _ in PlainProcedure(running: running) }
          model.queue.add(procedures[0])
          return model.scenario(
            workers: 2,
            threads: [
              { model.queue.add(procedures[1]) }, { model.queue.add(procedures[2]) },
            ]
          ) {
            try checkLives(procedures[0], procedures[1], procedures[2])
            try require(running.highest == 1, "\(running.highest) ran at once")
          }
        })
    }

    @Test(
      "Q2: a raised limit is kept, and nothing is lost, against two ends and an add")
    func limitIsRaised() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let running = PlainCounter()
          let first = PlainProcedure.lasting(running: running)
          let procedures = (0..<3).map { _ in PlainProcedure(running: running) }
          model.start(first, procedures[0], procedures[1])
          return model.scenario(threads: [
            { first.finish() }, { model.queue.maxConcurrentProcedureCount = 2 },
            { model.queue.add(procedures[2]) },
          ]) {
            try checkLives(first, procedures[0], procedures[1], procedures[2])
            try require(running.highest <= 2, "\(running.highest) ran at once")
          }
        })
    }

    @Test(
      "C3, Q2: a waiter for a slot ends when it is cancelled against the holder's end and an add")
    func cancelAgainstSlot() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let running = PlainCounter()
          let first = PlainProcedure.lasting(running: running)
          let second = PlainProcedure(running: running)
          let third = PlainProcedure(running: running)
          model.start(first, second)
          return model.scenario(threads: [
            { first.finish() }, { second.cancel() }, { model.queue.add(third) },
          ]) {
            try checkLives(first, second, third)
            try require(running.highest == 1, "\(running.highest) ran at once")
          }
        })
    }

    @Test(
      "C3: a procedure that is cancelled in a suspended queue finishes once, against the resume")
    func cancelAgainstResume() throws {
      try explore(onQueue: { model in
        let (first, second) = (PlainProcedure(), PlainProcedure())
        model.queue.isSuspended = true
        model.start(first, second)
        return model.scenario(threads: [{ first.cancel() }, { model.queue.isSuspended = false }]) {
          try checkLives(first, second)
        }
      })
    }

    /// Blocks its thread until the gate is open.
    private final class Blocking: Procedure, @unchecked Sendable {
      let gate: ModelGate
      init(_ gate: ModelGate) { self.gate = gate }
      override func execute() {
        gate.wait()
        finish()
      }
    }

    @Test("Q4: one that blocks keeps no other waiting, not even the one that unblocks it")
    func blocking() throws {
      try explore(
        limit: 2,
        onQueue: { model in
          let gate = ModelGate()
          let (blocking, second) = (Blocking(gate), PlainProcedure())
          second.addDidFinishBlockObserver { _, _ in gate.open() }
          model.queue.add(blocking)
          return model.scenario(workers: 2, threads: [{ model.queue.add(second) }]) {
            try second.checkLife()
            try require(blocking.isFinished, "not finished")
          }
        })
    }

    @Test(
      "F3: a worker that takes one procedure at a time loses none, against an add and a cancel")
    func shortWorkers() throws {
      try explore(
        proceduresPerWorker: 1,
        onQueue: { model in
          let (first, second) = (PlainProcedure(), PlainProcedure())
          let third = PlainProcedure()
          third.add(dependency: first)
          model.queue.add(first, third)
          return model.scenario(threads: [{ model.queue.add(second) }, { third.cancel() }]) {
            try checkLives(first, second, third)
          }
        })
    }

    @Test("Q1: a priority that is set before a slot is free counts, against an add")
    func priorityAgainstAdd() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let first = PlainProcedure.lasting()
          let (second, urgent, third) = (PlainProcedure(), PlainProcedure(), PlainProcedure())
          let early = PlainCounter()
          second.addWillExecuteBlockObserver { _, _ in
            if !urgent.hasExecuted { early.value += 1 }
          }
          model.start(first)
          model.queue.add(second)
          model.queue.add(urgent)
          return model.scenario(threads: [
            {
              urgent.priority = .high
              first.finish()
            }, { model.queue.add(third) },
          ]) {
            try checkLives(first, second, urgent, third)
            try require(early.value == 0, "the less urgent one began first")
          }
        })
    }

    @Test("Q1: a priority may be set while a procedure becomes ready, starts or is cancelled")
    func priorityAgainstStart() throws {
      try explore(onQueue: { model in
        let first = PlainProcedure.lasting()
        let second = PlainProcedure()
        second.add(dependency: first)
        model.start(first, second)
        return model.scenario(threads: [
          { first.finish() }, { second.priority = .high },
          {
            second.qualityOfService = .utility
            second.cancel()
          },
        ]) {
          try checkLives(first, second)
          try require(second.priority == .high, "the priority is lost")
        }
      })
    }

    @Test("Q5: cancelAll cancels all members against an add and a start, and all finish")
    func cancelAll() throws {
      try explore(
        limit: 1,
        onQueue: { model in
          let first = PlainProcedure.lasting()
          let (second, third) = (PlainProcedure(), PlainProcedure())
          model.start(first, second)
          return model.scenario(threads: [{ model.queue.cancelAll() }, { model.queue.add(third) }])
          {
            try checkLives(first, second, third)
            try require(first.isCancelled && second.isCancelled, "a procedure was missed")
          }
        })
    }
  }
#endif
