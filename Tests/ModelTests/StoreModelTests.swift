#if MODEL
  import Cancellation
  import Procedures
  import ProcedureTestSupport
  import Testing

  @Suite(.serialized, .hangLimit) struct StoreModelTests {
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

    @Test(
      "K13, F3: the last in a key's line runs when the middle one is cancelled against the end of the first"
    )
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

    @Test("K13, F3: a procedure runs that is added while the last in its key's line is cancelled")
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

    @Test("K13, F3: all of a key finish when two are added, one of which cancels those before it")
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

    // MARK: Joining

    /// The procedures of one key, as they are made.
    private final class Loads: Sendable {
      let store: ProcedureStore<Int>
      private let running = PlainCounter()
      private let all = PlainLog<PlainProcedure>()

      init(in model: ModelQueue) { store = ProcedureStore(on: model.queue) }

      @discardableResult
      func join(until token: CancellationToken, lasting: Bool = false) -> PlainProcedure {
        store.join(0, until: token) {
          let load = PlainProcedure(finishesItself: !lasting, running: running)
          all.events.append(load)
          return load
        }
      }

      func check() throws {
        try require(running.highest <= 1, "two of a key ran at a time")
        try require(store.count == 0, "the line is not empty")
        for load in all.events where load.state > .initialized { try load.checkLife() }
      }
    }

    @Test("K16: three that join a key at one moment get one procedure")
    func joins() throws {
      try explore(onQueue: { model in
        let loads = Loads(in: model)
        let got = PlainLog<PlainProcedure>()
        let join: @Sendable () -> Void = {
          got.events.append(loads.join(until: .never, lasting: true))
        }
        return model.scenario(threads: [join, join, join]) {
          try require(got.events.allSatisfy { $0 === got.events[0] }, "they got several")
          got.events[0].finish()
          model.scheduler.run()
          try loads.check()
        }
      })
    }

    @Test("K16: the last leaves, against one that joins: that one's is not cancelled")
    func lastLeavesAgainstJoin() throws {
      try explore(onQueue: { model in
        let loads = Loads(in: model)
        let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
        loads.join(until: first.token, lasting: true)
        model.scheduler.run()
        let joined = PlainLog<PlainProcedure>()
        return model.scenario(threads: [
          { first.cancel() },
          { joined.events.append(loads.join(until: second.token, lasting: true)) },
        ]) {
          try require(!joined.events[0].isCancelled, "it was cancelled for the one who joined")
          second.cancel()
          model.scheduler.run()
          try require(joined.events[0].isCancelled, "nobody wants it, and it goes on")
          try loads.check()
        }
      })
    }

    @Test("K16: the last leaves, against the finish of the procedure")
    func lastLeavesAgainstFinish() throws {
      try explore(onQueue: { model in
        let loads = Loads(in: model)
        let source = CancellationTokenSource()
        let load = loads.join(until: source.token, lasting: true)
        model.scheduler.run()
        return model.scenario(threads: [
          { source.cancel() }, { load.finish() }, { loads.join(until: .never) },
        ]) {
          try loads.check()
        }
      })
    }
  }
#endif
