#if MODEL
  import Procedures
  import Testing

  @Suite(.serialized) struct QueueModelTests {
    @Test("Q3: add and suspend against a worker: nothing is lost")
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

    @Test("Q6: a queue is released, and its last member ends, while that adds another: both run")
    func released() throws {
      try explore {
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

    @Test("Q12: a batch against a worker, and a cancel of one of it")
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

    @Test("Q12, F3: a batch against the end of what one of it depends on: that one is not lost")
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

    @Test("Q12, G2: children that are added in one call against the group's last child")
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
      "Q3: what is added to a suspended queue does not start, whatever workers are on their way")
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

    @Test("Q2: two workers, a limit of one, and two that add: one at a time, none lost")
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
      "Q2: a limit that is raised, against two ends and an add: never more than that, none lost")
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

    @Test("C3, Q2: a cancel of a waiter for a slot, against the end of its holder, and an add")
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

    @Test("C3: a cancel in a suspended queue against its resume")
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
      "F3: a worker that takes one procedure at a time, against an add and a cancel: none is lost")
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

    @Test("Q5: cancelAll against an add and a start: what was there is cancelled, all finish")
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
