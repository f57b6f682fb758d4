import ProcedurePrimitives
import Procedures
import ProcedureTestSupport
import ProceduresTesting
import Testing

/// `ProcedureStore.join` and `value(for:_:)`.
@Suite(.hangLimit) struct JoiningTests {
  private let scheduler = ManualScheduler()
  private let made = Counter()

  private typealias Load = SourceProcedure<Int>

  private func makeStore() -> ProcedureStore<String> {
    ProcedureStore(on: ProcedureQueue(scheduler: scheduler))
  }

  private func makeLoad() -> Load { Load("load \(made.increment())") }

  @Test("K16: all who join a key while its procedure is under way get that one, as its own type")
  func one() {
    let store = makeStore()
    let loads: [Load] = (0..<5).map { _ in
      scheduler.run()
      return store.join("a", until: .never) { makeLoad() }
    }
    #expect(loads.allSatisfy { $0 === loads[0] } && made.value == 1)
    #expect(store.join("b", until: .never) { makeLoad() } !== loads[0])
    #expect(store.latest("a") === loads[0] && store.count("a") == 1)
    loads[0].finish(withResult: .success(7))
    scheduler.run()
    #expect(store.count("a") == 0 && store.join("a", until: .never) { makeLoad() } !== loads[0])
    store.cancelAll()
  }

  @Test(
    "K16: the last who wants it cancels it by leaving, with that reason, and nobody before")
  func lastLeaves() {
    let store = makeStore()
    let cells = (0..<3).map { _ in CancellationTokenSource() }
    let loads = cells.map { store.join("a", until: $0.token) { makeLoad() } }
    scheduler.run()
    cells[0].cancel()
    cells[2].cancel()
    #expect(loads[0].isExecuting && !loads[0].isCancelled)
    cells[1].cancel(.deadlineExceeded)
    #expect(loads[0].isCancelled)
    #expect(
      loads[0].errors.first as? ProcedureError
        == ProcedureError(.deadlineExceeded, procedure: "load 1"))
    loads[0].finish()
    scheduler.run()
    #expect(store.count == 0)
  }

  @Test("K16: a cancelled one is not joined: the next starts when it has finished")
  func reuse() {
    let store = makeStore()
    let cells = (0..<2).map { _ in CancellationTokenSource() }
    let first = store.join("a", until: cells[0].token) { makeLoad() }
    scheduler.run()
    cells[0].cancel()
    let second = store.join("a", until: cells[1].token) { makeLoad() }
    scheduler.run()
    #expect(second !== first && second.isPending && store.count("a") == 2)
    #expect("\(store.queue.snapshot())".contains("'load 2' pending: it waits for 'load 1'"))
    #expect(store.join("a", until: .never) { makeLoad() } === second)
    first.finish()
    scheduler.run()
    #expect(second.isExecuting && !second.isCancelled)
    second.finish()
    scheduler.run()
  }

  @Test("K16: one that has finished is not joined, from its observers neither")
  func finished() {
    let store = makeStore()
    let next = Locked<Load?>(nil)
    let first = store.join("a", until: .never) { makeLoad() }
    first.addDidFinishBlockObserver { [made] _, _ in
      let load = store.join("a", until: .never) { Load("load \(made.increment())") }
      next.withLock { $0 = load }
    }
    scheduler.run()
    first.finish(withResult: .failure(TestError("down")))
    scheduler.run()
    let second = next.withLock { $0 }
    #expect(second !== first && second?.isExecuting == true && made.value == 2)
    second?.finish()
    scheduler.run()
    #expect(store.count == 0)
  }

  @Test("K16: if nobody else wants it, one that is joined with a cancelled token executes nothing")
  func cancelledBefore() async {
    let store = ProcedureStore<String>(on: ProcedureQueue())
    let load = store.join("a", until: .cancelled) { makeLoad() }
    #expect(load.isCancelled)
    #expect(await load.waitUntilFinished() == .cancelled([]))
    #expect(load.output == nil && store.count == 0)
    let wanted = store.join("a", until: .never) { makeLoad() }
    #expect(store.join("a", until: .cancelled) { makeLoad() } === wanted && !wanted.isCancelled)
    #expect(await eventually { wanted.finish() })
    await wanted.waitUntilFinished()
  }

  @Test(
    "K16: neither one of another type is joined, nor one that was added: a new one stands behind them"
  )
  func otherTypes() {
    let store = makeStore()
    let added = makeLoad()
    store.add(added, for: "a", policy: .inOrder)
    let joined = store.join("a", until: .never) { makeLoad() }
    let other = store.join("a", until: .never) { SourceProcedure<String>("other") }
    scheduler.run()
    #expect(added.isExecuting && joined.isPending && other.isPending && store.count("a") == 3)
    let general: Procedure = store.join("a", until: .never) { Procedure() }
    #expect(general === other)
    for procedure in [added, joined, other] as [Procedure] {
      procedure.finish()
      scheduler.run()
    }
    #expect(store.count == 0)
  }

  @Test("K16: an error of what makes it is thrown, and nothing is left")
  func throwing() {
    let store = makeStore()
    #expect(throws: TestError("no")) {
      try store.join("a", until: .never) { () throws -> Load in throw TestError("no") }
    }
    #expect(store.count == 0 && store.latest("a") == nil)
  }

  @Test("K16, Q8: a closed queue refuses it, and it finishes")
  func closed() {
    let store = makeStore()
    store.queue.diagnosticsHandler = { _ in }
    store.queue.close()
    let load = store.join("a", until: .never) { makeLoad() }
    scheduler.run()
    #expect((load.errors.first as? ProcedureError)?.code == .queueClosed && store.count == 0)
  }

  @Test("K16: the store's cancels reach it, and so does the store's end")
  func storeCancels() {
    var store: ProcedureStore<String>? = makeStore()
    let first = store!.join("a", until: .never) { makeLoad() }
    store!.cancel("a")
    #expect(first.isCancelled)
    let second = store!.join("a", until: .never) { makeLoad() }
    store = nil
    #expect(second.isCancelled)
    scheduler.run()
    #expect(first.isFinished && second.isFinished)
  }

  // MARK: Waiting for the value

  @Test("K16: tasks wait for one value; the cancel of one ends only its own wait")
  func values() async throws {
    let queue = ProcedureQueue()
    let store = ProcedureStore<String>(on: queue)
    let gate = Gate()
    // Bodies of procedures, whose waits can be seen.
    let cells = (0..<4).map { index in
      AsyncResultProcedure(name: "cell \(index)") { [made] in
        try await store.value(for: "a") {
          AsyncResultProcedure<Int> {
            await gate.wait()
            return made.increment()
          }
        }
      }
    }
    queue.add(cells)
    #expect(
      await eventually {
        queue.snapshot().entries.count { $0.obstacle?.contains("value(for:_:)") == true } == 4
      })
    let load = try #require(store.latest("a"))
    cells[0].cancel()
    #expect(await cells[0].waitUntilFinished().isCancelled && !load.isCancelled)
    gate.open()
    for cell in cells.dropFirst() { #expect(try await cell.value == 1) }
    await queue.waitUntilAllFinished()
    #expect(made.value == 1 && store.count == 0)
  }

  @Test("K16: all who wait get the error of the load, and the next value is made anew")
  func failing() async throws {
    let store = ProcedureStore<String>(on: ProcedureQueue())
    let gate = Gate()
    let tasks = (0..<4).map { _ in
      Task { [made] in
        try await store.value(for: "a") {
          made.increment()
          return AsyncResultProcedure<Int> {
            await gate.wait()
            throw TestError("down")
          }
        }
      }
    }
    #expect(await eventually { made.value > 0 })
    gate.open()
    for task in tasks {
      await #expect(throws: TestError("down")) { try await task.value }
    }
    #expect(try await store.value(for: "a") { ResultProcedure { 8 } } == 8)
    #expect(store.count == 0)
  }

  @Test(
    "K16: the cancel of the last waiting task has reached the load before Task.cancel() returns")
  func promptly() async {
    let store = ProcedureStore<String>(on: ProcedureQueue())
    let task = Task { try await store.value(for: "a") { Load() } }
    #expect(await eventually { store.latest("a")?.isExecuting == true })
    let load = store.latest("a")
    task.cancel()
    #expect(load?.isCancelled == true)
    load?.finish()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("K16, C7: in a task that is cancelled already nothing is made")
  func cancelledTask() async {
    let store = ProcedureStore<String>(on: ProcedureQueue())
    let task = Task { [made] in
      while !Task.isCancelled { await Task.yield() }
      return try await store.value(for: "a") { Load("load \(made.increment())") }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(made.value == 0 && store.count == 0)
  }

  @Test("K16: a snapshot says what the dependents and the bodies that joined wait for")
  func snapshot() async throws {
    let queue = ProcedureQueue()
    let store = ProcedureStore<String>(on: queue)
    let show = TransformProcedure<Int, Void>(name: "show") { _ in }
    let load = store.join("a", until: show.cancellationToken) { Load("load") }
    show.injectResult(from: load)
    let cell = AsyncResultProcedure(name: "cell") {
      try await store.value(for: "a") { Load("another") }
    }
    queue.add(show, cell)
    #expect(
      await eventually {
        let text = "\(queue.snapshot())"
        return text.contains("'show' pending: it waits for 'load'")
          && text.contains("'cell' executing: it waits in value(for:_:) for 'load'")
      })
    show.cancel()
    #expect(!load.isCancelled)
    load.finish(withResult: .success(7))
    #expect(try await cell.value == 7)
    await queue.waitUntilAllFinished()
  }

  @Test(
    "K16, Q7: a body that waits on its own serial queue for what it has added there is a cycle, and ends"
  )
  func cycle() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    queue.diagnosticsHandler = { _ in }
    let store = ProcedureStore<String>(on: queue)
    let cell = AsyncResultProcedure(name: "cell") {
      try await store.value(for: "a") { ResultProcedure { 7 } }
    }
    let errors = await queue.run(cell).errors
    #expect((errors.first as? ProcedureError)?.code == .dependencyCycle)
    await queue.waitUntilAllFinished()
    #expect(store.count == 0)
  }

  // MARK: At one moment

  @Test("K16: one of several calls at one moment adds, and all get that one")
  func atOnce() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few * 4 {
      let store = ProcedureStore<Int>(on: queue)
      let (executions, loads) = (Counter(), Recorder<ResultProcedure<Int>>())
      let gate = Gate()
      let join: @Sendable () -> Void = {
        loads.note(
          store.join(0, until: .never) {
            ResultProcedure {
              gate.block()
              return executions.increment()
            }
          })
      }
      raceOnThreads(join, join, join, join)
      gate.open()
      await queue.waitUntilAllFinished()
      #expect(executions.value == 1 && Set(loads.events).count == 1 && store.count == 0)
    }
  }

  @Test("K16: who joins while the last leaves gets one that is not cancelled")
  func joiningAgainstLeaving() async {
    let queue = ProcedureQueue()
    for round in 0..<Rounds.few * 4 {
      let store = ProcedureStore<Int>(on: queue)
      let (first, second) = (CancellationTokenSource(), CancellationTokenSource())
      let joined = Locked<AsyncProcedure?>(nil)
      let gate = Gate()
      store.join(0, until: first.token) { AsyncProcedure { await gate.wait() } }
      raceOnThreads(
        { first.cancel() },
        {
          for _ in 0..<(round % 40) { _ = store.count(0) }
          let load = store.join(0, until: second.token) { AsyncProcedure { await gate.wait() } }
          joined.withLock { $0 = load }
        })
      let load = joined.withLock { $0 }
      #expect(load?.isCancelled == false)
      gate.open()
      #expect(await load?.waitUntilFinished() == .succeeded)
      await queue.waitUntilAllFinished()
      #expect(store.count == 0)
    }
  }

  @Test("K16: the last leaves at the moment the load finishes: it ends once, and the key is free")
  func leavingAgainstFinishing() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few * 4 {
      let (store, cell) = (ProcedureStore<Int>(on: queue), CancellationTokenSource())
      let load = store.join(0, until: cell.token) { SourceProcedure<Int>() }
      #expect(await eventually { load.isExecuting })
      raceOnThreads(
        { cell.cancel() }, { load.finish(withResult: .success(1)) },
        { store.join(0, until: .never) { ResultProcedure { 2 } } })
      let outcome = await load.waitUntilFinished()
      #expect(outcome == (load.isCancelled ? .cancelled([]) : .succeeded))
      await queue.waitUntilAllFinished()
      #expect(store.count == 0)
    }
  }

  @Test(
    "K16: in any order of events each cell that stays has the value, and one that left alone ends the load"
  )
  func simulated() throws {
    try ProcedureSimulation.explore(seeds: 0..<200) { simulation in
      let store = ProcedureStore<Int>(on: simulation.makeQueue(maxConcurrentProcedureCount: 2))
      let executions = Counter()
      let cells = (0..<4).map { _ in CancellationTokenSource() }
      let shows = cells.indices.map { index in
        let show = TransformProcedure<Int, Int> { $0 }
        show.cancel(when: cells[index].token)
        return show
      }
      for (index, show) in shows.enumerated() {
        simulation.perform(after: .seconds(simulation.random(in: 0...2))) {
          show.injectResult(
            from: store.join(index % 2, until: show.cancellationToken) {
              ResultProcedure { executions.increment() }
            })
          store.queue.add(show)
        }
      }
      for index in [0, 1] {
        simulation.perform(after: .seconds(simulation.random(in: 0...2))) { cells[index].cancel() }
      }
      try simulation.run()
      for index in [2, 3] {
        try simulation.expect(shows[index].outcome == .succeeded, "\(index) has no value")
      }
      try simulation.expect(store.count == 0, "something is left in the store")
      try simulation.expect(executions.value <= 4, "\(executions.value) loads")
    }
  }

  @Test("K16, K8: a token that has joined many, which have finished, keeps none of them")
  func memory() {
    let (store, screen, live) = (makeStore(), CancellationTokenSource(), LiveInstances())
    for number in 0..<100 {
      let load = store.join("\(number)", until: screen.token) { live.track(Load()) }
      scheduler.run()
      load.finish()
      scheduler.run()
    }
    #expect(live.labels.isEmpty && store.count == 0)
    screen.cancel()
  }
}
