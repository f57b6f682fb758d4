#if MODEL
  import Procedures
  import Testing

  @Suite(.serialized) struct StoreModelTests {
    /// Three of one key, of which the first runs.
    private struct Line {
      let store: ProcedureStore<Int>
      let first: PlainProcedure
      let second: PlainProcedure
      let third: PlainProcedure
      private let running = PlainCounter()
      private let early = PlainCounter()

      init(in model: ModelQueue) {
        store = ProcedureStore(on: model.queue)
        first = .lasting(running: running)
        second = PlainProcedure(running: running)
        third = PlainProcedure(running: running)
        for procedure in [first, second, third] {
          procedure.addWillExecuteBlockObserver { [running, early] _, _ in
            if running.value > 0 { early.value += 1 }
          }
        }
        store.add(first, for: 0, policy: .inOrder)
        model.scheduler.run()
      }

      func check() throws {
        try checkLives(first, second, third)
        try require(early.value == 0, "two of a key ran at a time")
        try require(store.count == 0, "the line is not empty")
      }
    }

    @Test("K13, F3: the cancel of one in the middle of a key's line, against the end of the first")
    func cancelAgainstFinish() throws {
      try explore(onQueue: { model in
        let line = Line(in: model)
        line.store.add(line.second, for: 0, policy: .inOrder)
        line.store.add(line.third, for: 0, policy: .inOrder)
        return model.scenario(threads: [{ line.second.cancel() }, { line.first.finish() }]) {
          try line.check()
        }
      })
    }

    @Test("K13, F3: the cancel of the last of a key's line, against one that is added")
    func cancelAgainstAddition() throws {
      try explore(onQueue: { model in
        let line = Line(in: model)
        line.store.add(line.second, for: 0, policy: .inOrder)
        return model.scenario(threads: [
          { line.second.cancel() },
          {
            line.store.add(line.third, for: 0, policy: .inOrder)
            line.first.finish()
          },
        ]) {
          try line.check()
        }
      })
    }

    @Test("K13, F3: two that are added, of which one cancels those before it")
    func additions() throws {
      try explore(onQueue: { model in
        let line = Line(in: model)
        return model.scenario(threads: [
          { line.store.add(line.second, for: 0, policy: .inOrder) },
          { line.store.add(line.third, for: 0, policy: .cancelPrevious) },
        ]) {
          try line.check()
        }
      })
    }
  }
#endif
