#if MODEL
  @testable import Procedures
  import ProcedureTestSupport
  import Testing

  /// Groups that give up their slot while they wait for time, as a retry does.
  @Suite(.serialized, .hangLimit) struct RestModelTests {
    private struct Parts: Sendable {
      let model: ModelQueue
      let running = PlainCounter()
      let last = PlainProcedure.lasting()
      /// While it is there the group keeps its slot.
      let extra: PlainProcedure
      let pause = PlainProcedure.lasting()
      let next: PlainProcedure
      let group: GroupProcedure

      init(in model: ModelQueue, hasExtra: Bool) {
        self.model = model
        extra = PlainProcedure(finishesItself: !hasExtra)
        next = PlainProcedure(running: running)
        pause.add(dependency: last)
        next.add(dependency: pause)
        group = GroupProcedure(last, extra, pause, next)
        group.yieldSlot(during: pause, after: last)
        model.start(group)
      }

      /// The group gives up its slot.
      func begin() {
        last.finish()
        model.scheduler.run()
      }

      func check(_ others: [PlainProcedure]) throws {
        try require(group.isFinished, "the group did not finish")
        for procedure in [last, extra, pause, next] + others { try procedure.checkLife() }
        try require(running.highest == 1, "\(running.highest) ran at once on one slot")
      }
    }

    private func exploreRest(
      hasExtra: Bool = true,
      _ threads: @escaping (Parts, PlainProcedure) -> [@Sendable () -> Void],
      setup: @escaping (Parts, PlainProcedure) -> Void = { _, _ in }
    ) throws {
      try explore {
        let model = ModelQueue(limit: 1)
        let parts = Parts(in: model, hasExtra: hasExtra)
        let other = PlainProcedure(running: parts.running)
        setup(parts, other)
        return model.scenario(threads: threads(parts, other)) {
          try parts.check([other])
        }
      }
    }

    @Test(
      "Q2: a retry goes on when its wait ends before, while or after it gives its slot to another")
    func endOfPauseAgainstRest() throws {
      try exploreRest { parts, other in
        // The call by the worker of `last`, which has had no time since that left.
        [{ parts.group.yieldSlot(during: parts.pause) }, { parts.pause.finish() }]
      } setup: { parts, other in
        parts.model.queue.add(other)
        for child in [parts.last, parts.extra] {
          child.finish()
          parts.model.scheduler.run()
        }
      }
    }

    @Test("Q2: a group gets its slot back while another one has it, or ends")
    func endOfPause() throws {
      try exploreRest(hasExtra: false) { parts, other in
        [{ parts.pause.finish() }, { parts.model.queue.add(other) }]
      } setup: { parts, _ in
        parts.begin()
      }
    }

    @Test("Q2: a rest that begins in line keeps no slot that comes back at the same moment")
    func restInLineAgainstSlot() throws {
      try explore {
        let (model, running) = (ModelQueue(limit: 1), PlainCounter())
        let (last, pause, rest) = (
          PlainProcedure.lasting(), PlainProcedure.lasting(), PlainProcedure.lasting()
        )
        let (attempt, next) = (PlainProcedure(running: running), PlainProcedure(running: running))
        let other = PlainProcedure.lasting(running: running)
        pause.add(dependency: last)
        attempt.add(dependency: pause)
        rest.add(dependency: attempt)
        next.add(dependency: rest)
        let group = GroupProcedure(last, pause, attempt, rest, next)
        group.yieldSlot(during: pause, after: last)
        group.yieldSlot(during: rest, after: attempt)
        model.start(group, other)
        last.finish()
        model.scheduler.run()
        pause.finish()
        model.scheduler.run()
        return model.scenario(threads: [{ attempt.cancel() }, { other.finish() }]) {
          let third = PlainProcedure(running: running)
          model.start(third)
          try require(rest.isExecuting && third.isFinished, "a rest keeps the slot")
          rest.finish()
          model.scheduler.run()
          try require(group.isFinished, "the group did not finish")
          try require(running.highest == 1, "\(running.highest) ran at once on one slot")
          try checkLives(last, pause, attempt, rest, next, other, third)
        }
      }
    }

    @Test("C3: a retry ends when it is cancelled as it gives its slot up")
    func cancelAgainstRest() throws {
      try exploreRest(hasExtra: false) { parts, other in
        [{ parts.last.finish() }, { parts.group.cancel() }]
      } setup: { parts, other in
        parts.model.queue.add(other)
      }
    }

    @Test("C3: a retry ends when it is cancelled as its slot comes back")
    func cancelAgainstReturn() throws {
      try exploreRest(hasExtra: false) { parts, other in
        [{ parts.pause.finish() }, { parts.group.cancel() }]
      } setup: { parts, other in
        parts.begin()
        parts.model.queue.add(other)
      }
    }
  }
#endif
