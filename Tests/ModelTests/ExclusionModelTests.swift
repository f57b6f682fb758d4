#if MODEL
  import Procedures
  import ProcedureTestSupport
  import Testing

  /// What procedures exclude each other from. One suite, since all share one table.
  @Suite(.serialized, .hangLimit) struct ExclusionModelTests {
    private let domain = ExclusionDomain(name: "model")

    private func exclusive(
      _ categories: String..., lasts: Bool = false, running: PlainCounter = PlainCounter()
    ) -> PlainProcedure {
      let procedure = PlainProcedure(finishesItself: !lasts, running: running)
      for category in categories {
        procedure.add(condition: MutuallyExclusive(named: category, in: domain))
      }
      return procedure
    }

    /// On queues of their own, in the order given; the first holds what the others wait for.
    private func onQueuesOfTheirOwn(_ procedures: [PlainProcedure]) -> [ModelQueue] {
      procedures.map { procedure in
        let model = ModelQueue()
        model.start(procedure)
        return model
      }
    }

    private func check(_ procedures: [PlainProcedure], _ running: PlainCounter) throws {
      for procedure in procedures { try procedure.checkLife() }
      try require(running.highest == 1, "\(running.highest) of one category ran at once")
    }

    @Test("L1, L4: an offer goes on to the next when its waiter on another queue is cancelled")
    func offerAgainstCancel() throws {
      try explore {
        let running = PlainCounter()
        let holder = exclusive("a", lasts: true, running: running)
        let procedures = [holder] + (0..<2).map { _ in exclusive("a", running: running) }
        let models = onQueuesOfTheirOwn(procedures)
        return .init(
          threads: [{ holder.finish() }, { procedures[1].cancel() }],
          workers: models.map(\.scheduler)
        ) {
          try check(procedures, running)
        }
      }
    }

    @Test("L4: a waiter may be cancelled while the holder ends and another one asks")
    func askAgainstCancel() throws {
      try explore(onQueue: { model in
        let running = PlainCounter()
        let holder = exclusive("a", lasts: true, running: running)
        let (waiter, late) = (exclusive("a", running: running), exclusive("a", running: running))
        model.start(holder, waiter)
        return model.scenario(threads: [
          { holder.finish() }, { waiter.cancel() }, { model.queue.add(late) },
        ]) {
          try check([holder, waiter, late], running)
        }
      })
    }

    @Test("L1: an offer goes on when its waiter gains a dependency")
    func offerAgainstDependency() throws {
      try explore {
        let running = PlainCounter()
        let finished = PlainProcedure()
        let holder = exclusive("a", lasts: true, running: running)
        let (waiter, last) = (exclusive("a", running: running), exclusive("a", running: running))
        // Held back so that the dependency is in time.
        let models = onQueuesOfTheirOwn([holder, waiter, last])
        models[2].start(finished)
        holder.finish()
        return .init(
          threads: [
            { models[0].scheduler.run() },
            {
              waiter.add(dependency: finished)
              models[1].scheduler.run()
            },
          ]
        ) {
          for _ in 0..<3 { for model in models { model.scheduler.run() } }
          try check([holder, waiter, last], running)
        }
      }
    }

    @Test("L1, Q3: no grant is lost, and none overlap, when the queue is suspended")
    func grantAgainstSuspend() throws {
      try explore {
        let running = PlainCounter()
        let holder = exclusive("a", lasts: true, running: running)
        let waiters = (0..<2).map { _ in exclusive("a", running: running) }
        let (other, model) = (ModelQueue(), ModelQueue())
        other.start(holder)
        model.start(waiters[0], waiters[1])
        holder.finish()
        return .init(
          threads: [
            {
              model.queue.isSuspended = true
              model.queue.isSuspended = false
            }
          ], workers: [other.scheduler, model.scheduler]
        ) {
          try check([holder] + waiters, running)
        }
      }
    }

    @Test("L1: two queues take turns when each ends while the other asks")
    func twoEnds() throws {
      try explore {
        let running = PlainCounter()
        let procedures = (0..<4).map { _ in exclusive("a", running: running) }
        let models = [ModelQueue(), ModelQueue()]
        for (index, procedure) in procedures.enumerated() { models[index % 2].queue.add(procedure) }
        return .init(threads: [], workers: models.map(\.scheduler)) {
          try check(procedures, running)
        }
      }
    }

    @Test("L1: two workers of one queue run one at a time, and lose none that is added")
    func twoWorkers() throws {
      try explore(onQueue: { model in
        let running = PlainCounter()
        let procedures = (0..<2).map { _ in exclusive("a", running: running) }
        model.queue.add(procedures[0])
        return model.scenario(workers: 2, threads: [{ model.queue.add(procedures[1]) }]) {
          try check(procedures, running)
        }
      })
    }

    @Test("L2: a waiter for two categories runs when both holders end at once")
    func twoCategories() throws {
      try explore {
        let (runningA, runningB) = (PlainCounter(), PlainCounter())
        let first = exclusive("a", lasts: true, running: runningA)
        let second = exclusive("b", lasts: true, running: runningB)
        let both = exclusive("a", "b", running: runningA)
        let last = exclusive("b", running: runningB)
        let models = onQueuesOfTheirOwn([first, second, both])
        models[1].start(last)
        return .init(
          threads: [{ first.finish() }, { second.finish() }],
          workers: models.map(\.scheduler)
        ) {
          for procedure in [first, second, both, last] { try procedure.checkLife() }
          try require(runningA.highest == 1 && runningB.highest == 1, "two ran at once")
        }
      }
    }

    @Test("L2: a waiter in line takes no slot, and an offer without a slot goes on to the next")
    func offerAgainstSlot() throws {
      try explore {
        let running = PlainCounter()
        let holder = exclusive("a", lasts: true, running: running)
        let (waiter, last) = (exclusive("a", running: running), exclusive("a", running: running))
        let (other, serial) = (ModelQueue(), ModelQueue(limit: 1))
        other.start(holder)
        serial.start(waiter)
        other.start(last)
        let plain = PlainProcedure()
        return .init(
          threads: [{ holder.finish() }, { serial.queue.add(plain) }],
          workers: [other.scheduler, serial.scheduler]
        ) {
          try check([holder, waiter, last], running)
          try plain.checkLife()
        }
      }
    }

    @Test("L3: exclusive children of the holder run one at a time on two workers")
    func insideGroup() throws {
      try explore(onQueue: { model in
        let running = PlainCounter()
        let children = (0..<2).map { _ in exclusive("a", running: running) }
        let group = GroupProcedure(children: children)
        group.add(condition: MutuallyExclusive(named: "a", in: domain))
        model.queue.add(group)
        return model.scenario(workers: 2, threads: []) {
          try check(children, running)
          try require(group.isFinished, "the group did not finish")
        }
      })
    }

    @Test("L3: a waiter outside of the holding group runs after the group's last child")
    func outsideGroup() throws {
      try explore(onQueue: { model in
        let running = PlainCounter()
        let child = exclusive("a", lasts: true, running: running)
        let group = GroupProcedure(child)
        group.add(condition: MutuallyExclusive(named: "a", in: domain))
        let outside = exclusive("a", running: running)
        model.start(group)
        return model.scenario(threads: [{ child.finish() }, { model.queue.add(outside) }]) {
          try check([child, outside], running)
          try require(group.isFinished, "the group did not finish")
        }
      })
    }

    private func counted(_ count: Int, lasts: Bool = false) -> PlainProcedure {
      let procedure = PlainProcedure(finishesItself: !lasts)
      procedure.add(condition: AtMost(count, of: ExclusionCategory(named: "a", in: domain)))
      return procedure
    }

    @Test("L6: the more urgent of two that wait is let in first, against its cancel")
    func urgentWaiter() throws {
      try explore {
        let holder = counted(1, lasts: true)
        let (first, urgent) = (counted(1), counted(1))
        urgent.priority = .high
        let early = PlainCounter()
        first.addWillExecuteBlockObserver { _, _ in
          if !urgent.isCancelled, !urgent.hasExecuted { early.value += 1 }
        }
        let models = onQueuesOfTheirOwn([holder, first, urgent])
        return .init(
          threads: [{ holder.finish() }, { urgent.cancel() }], workers: models.map(\.scheduler)
        ) {
          for procedure in [holder, first, urgent] { try procedure.checkLife() }
          try require(early.value == 0, "the less urgent one was let in first")
        }
      }
    }

    @Test("Q1, L6: a priority that is set while it waits in line, against the end of the holder")
    func priorityAgainstEnd() throws {
      try explore {
        let holder = counted(1, lasts: true)
        let (first, second) = (counted(1), counted(1))
        let models = onQueuesOfTheirOwn([holder, first, second])
        return .init(
          threads: [{ holder.finish() }, { second.priority = .high }],
          workers: models.map(\.scheduler)
        ) {
          for procedure in [holder, first, second] { try procedure.checkLife() }
        }
      }
    }

    @Test("L4, L5: waiters are let in when the one before them is cancelled against an end")
    func cancelInFront() throws {
      try explore {
        let reader = counted(2, lasts: true)
        let (writer, late) = (counted(1), counted(2))
        let models = onQueuesOfTheirOwn([reader, writer, late])
        return .init(
          threads: [{ writer.cancel() }, { reader.finish() }], workers: models.map(\.scheduler)
        ) {
          for procedure in [reader, writer, late] { try procedure.checkLife() }
        }
      }
    }

    @Test(
      "L4, L5: waiters are let in when the one before them is cancelled, though the holder stays")
    func cancelInFrontOfHolder() throws {
      try explore {
        let reader = counted(2, lasts: true)
        let (writer, late) = (counted(1), counted(2))
        let models = onQueuesOfTheirOwn([reader, writer, late])
        return .init(
          threads: [{ writer.cancel() }, { writer.add(observer: BlockObserver()) }],
          workers: models.map(\.scheduler)
        ) {
          try writer.checkLife()
          try late.checkLife()
          reader.finish()
          for model in models { model.scheduler.run() }
          try reader.checkLife()
        }
      }
    }
  }
#endif
