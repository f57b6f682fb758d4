import Procedures
import ProcedureTestSupport
import ProceduresTesting
import Testing

@Suite(.hangLimit) struct ProcedureStoreTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func traced(
    _ name: String, end: TracedProcedure.End = .itself
  ) -> TracedProcedure {
    TracedProcedure(name, trace: trace, end: end)
  }

  private var executed: [String] {
    trace.events.filter { $0.hasSuffix(" execute") }.map { String($0.dropLast(8)) }
  }

  @Test(
    "K13: procedures of a key run one at a time, in the order of adding, whatever their priorities")
  func inOrder() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let store = ProcedureStore<String>(on: queue)
    let first = traced("a1", end: .whenTold)
    let (second, third) = (traced("a2"), traced("a3"))
    third.priority = .veryHigh
    for procedure in [first, second, third] { store.add(procedure, for: "a", policy: .inOrder) }
    store.add(traced("b1"), for: "b", policy: .inOrder)
    scheduler.run()
    #expect(executed == ["a1", "b1"])
    #expect(store.count("a") == 3 && store.count("b") == 0 && store.count == 3)
    #expect(store.latest("a") === third && store.latest("b") == nil)
    #expect(second.dependencies.isEmpty)
    #expect("\(queue.snapshot())".contains("it waits for 'a1'"))
    first.finish()
    scheduler.run()
    #expect(executed == ["a1", "b1", "a2", "a3"])
    #expect(store.count == 0 && store.latest("a") == nil)
  }

  @Test("K13: the latest of a key wins, and starts when the older ones have finished, cancelled")
  func latest() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let store = ProcedureStore<Int>(on: queue)
    let running = traced("1", end: .whenTold)
    store.add(running, for: 0, policy: .cancelPrevious)
    scheduler.run()
    let pending = (2...100).map { traced("\($0)") }
    for procedure in pending { store.add(procedure, for: 0, policy: .cancelPrevious) }
    #expect(running.isCancelled && pending.dropLast().allSatisfy(\.isCancelled))
    scheduler.run()
    #expect(pending.dropLast().allSatisfy(\.isFinished) && store.count(0) == 2)
    #expect(executed == ["1"])
    running.finish()
    scheduler.run()
    #expect(executed == ["1", "100"] && pending.last?.outcome == .succeeded)
  }

  @Test("K13: a procedure that is cancelled in the middle of its line lets none before its turn")
  func cancelledInTheMiddle() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let store = ProcedureStore<Int>(on: queue)
    let line = (0..<6).map { traced("\($0)", end: $0 == 0 ? .whenTold : .itself) }
    for procedure in line { store.add(procedure, for: 0, policy: .inOrder) }
    scheduler.run()
    for index in [1, 4, 3] {
      line[index].cancel()
      scheduler.run()
      #expect(line[index].isFinished && executed == ["0"])
    }
    line[0].finish()
    scheduler.run()
    #expect(executed == ["0", "2", "5"] && line[5].outcome == .succeeded)
  }

  @Test("K13: a procedure that is cancelled before it is added keeps the order of the others")
  func cancelledBefore() async {
    let queue = ProcedureQueue()
    let store = ProcedureStore<Int>(on: queue)
    let (first, cancelled, last) = (traced("1", end: .whenTold), traced("2"), traced("3"))
    cancelled.cancel()
    for procedure in [first, cancelled, last] { store.add(procedure, for: 0, policy: .inOrder) }
    #expect(await cancelled.waitUntilFinished() == .cancelled([]))
    #expect(await eventually { first.isExecuting })
    #expect(executed == ["1"])
    first.finish()
    await queue.waitUntilAllFinished()
    #expect(executed == ["1", "3"])
  }

  @Test(
    "K13: cancel(_:) cancels a key's procedures, and cancelAll() all, as the end of the store does")
  func cancels() {
    let queue = ProcedureQueue(scheduler: scheduler)
    var store: ProcedureStore<Int>? = ProcedureStore(on: queue)
    let procedures = (0..<4).map { traced("\($0)", end: .whenToldOrCancelled) }
    for (key, procedure) in procedures.enumerated() {
      store?.add(procedure, for: key, policy: .inOrder)
    }
    scheduler.run()
    store?.cancel(0)
    #expect(procedures.map(\.isCancelled) == [true, false, false, false])
    store?.cancelAll()
    #expect(procedures.count(where: \.isCancelled) == 4)
    let late = traced("late")
    store?.add(late, for: 9, policy: .inOrder)
    store = nil
    #expect(late.isCancelled)
    scheduler.run()
    #expect(late.isFinished && queue.count == 0)
  }

  @Test("K13, Q8: a procedure that a closed queue refuses finishes, and keeps nothing in line")
  func closed() {
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.diagnosticsHandler = { _ in }
    let store = ProcedureStore<Int>(on: queue)
    let first = traced("1", end: .whenTold)
    #expect(store.add(first, for: 0, policy: .inOrder))
    scheduler.run()
    queue.close()
    let refused = traced("2")
    #expect(!store.add(refused, for: 0, policy: .cancelPrevious))
    scheduler.run()
    #expect(refused.isFinished && first.isCancelled && store.count == 1)
    first.finish()
    scheduler.run()
    #expect(store.count == 0)
  }

  @Test("Q7: a procedure that waits for a later one of its key is found, and ends")
  func circle() async {
    let queue = ProcedureQueue()
    queue.diagnosticsHandler = { _ in }
    let store = ProcedureStore<Int>(on: queue)
    let (first, second) = (traced("first"), traced("second"))
    first.add(dependency: second)
    store.add(first, for: 0, policy: .inOrder)
    store.add(second, for: 0, policy: .inOrder)
    let error = await first.waitUntilFinished().errors.first as? ProcedureError
    #expect(error?.code == .dependencyCycle)
    await queue.waitUntilAllFinished()
    #expect(store.count == 0)
  }

  @Test("D4: the older procedure of a key is no dependency for a condition to see")
  func conditions() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let store = ProcedureStore<Int>(on: queue)
    let (older, newer) = (traced("older"), traced("newer"))
    newer.add(condition: NoFailedDependencies())
    store.add(older, for: 0, policy: .cancelPrevious)
    store.add(newer, for: 0, policy: .cancelPrevious)
    newer.remove(dependency: older)
    scheduler.run()
    #expect(executed == ["newer"] && newer.outcome == .succeeded)
  }

  /// A key whose code uses the store.
  private final class Key: Hashable, Sendable {
    let number: Int
    let uses: @Sendable () -> Void

    init(_ number: Int, _ uses: @escaping @Sendable () -> Void) {
      self.number = number
      self.uses = uses
    }

    static func == (left: Key, right: Key) -> Bool {
      left.uses()
      return left.number == right.number
    }

    func hash(into hasher: inout Hasher) {
      uses()
      hasher.combine(number % 2)
    }

    deinit { uses() }
  }

  @Test("T4: keys may use the store in ==, hash(into:) and deinit")
  func keysUseTheStore() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let store = ProcedureStore<Key>(on: queue)
    let uses: @Sendable () -> Void = { [weak store] in _ = store?.count }
    let alive = Counter()
    for number in 0..<20 {
      alive.increment()
      let tracker = Tracker { alive.decrement() }
      let key = Key(number % 5) {
        _ = tracker
        uses()
      }
      store.add(traced("\(number)"), for: key, policy: number % 3 == 0 ? .cancelPrevious : .inOrder)
    }
    scheduler.run()
    #expect(store.count == 0 && queue.count == 0)
    #expect(alive.value == 0)
  }

  @Test("K13: a line of one key takes linear time, also when all are cancelled")
  func longLine() {
    let count = Rounds.size(100_000, otherwise: 8_000)
    let queue = ProcedureQueue(scheduler: scheduler)
    let store = ProcedureStore<Int>(on: queue)
    let order = Counter()
    for number in 0..<count {
      let procedure = BlockProcedure { if order.value == number { order.increment() } }
      store.add(procedure, for: 0, policy: .inOrder)
    }
    scheduler.run()
    #expect(order.value == count && store.count == 0)
    queue.isSuspended = true
    for _ in 0..<count { store.add(BlockProcedure {}, for: 0, policy: .inOrder) }
    store.cancelAll()
    scheduler.run()
    #expect(store.count == 0 && queue.count == 0)
  }

  @Test(
    "K13, Z3: procedures of a key run one at a time, in order, and none is lost, whatever is cancelled when"
  )
  func simulated() throws {
    let seeds = 0..<UInt64(Rounds.size(200, otherwise: 100))
    try ProcedureSimulation.explore(seeds: seeds) { simulation in
      let queue = simulation.makeQueue(maxConcurrentProcedureCount: simulation.random(in: 1...4))
      let store = ProcedureStore<Int>(on: queue)
      let (running, started) = (Recorder<Int>(), Recorder<[Int]>())
      let (overlaps, added) = (Counter(), Recorder<[Int]>())
      let inside = [Counter(), Counter()]
      var procedures: [Procedure] = []
      for number in 0..<12 {
        let key = number % 2
        let procedure = DelayProcedure(by: .seconds(simulation.random(in: 1...3)))
        procedure.addWillExecuteBlockObserver { _, _ in
          if inside[key].increment() > 1 { overlaps.increment() }
          started.note([key, number])
          running.note(number)
        }
        procedure.addDidFinishBlockObserver { _, _ in
          if running.events.contains(number) { inside[key].decrement() }
        }
        let policy: ProcedureStore<Int>.Policy =
          simulation.random(in: 0...2) == 0 ? .cancelPrevious : .inOrder
        simulation.perform(after: .seconds(simulation.random(in: 0...6))) {
          added.note([key, number])
          store.add(procedure, for: key, policy: policy)
        }
        if simulation.random(in: 0...2) == 0 {
          simulation.perform(after: .seconds(simulation.random(in: 0...9))) { procedure.cancel() }
        }
        procedures.append(procedure)
      }
      try simulation.run()
      try simulation.expect(overlaps.value == 0, "two of a key ran at a time")
      try simulation.expect(store.count == 0, "the line is not empty")
      for key in 0...1 {
        let order = added.events.filter { $0[0] == key }
        let places = started.events.filter { $0[0] == key }.compactMap(order.firstIndex)
        try simulation.expect(places == places.sorted(), "one began before its turn")
      }
      try simulation.expect(procedures.allSatisfy(\.isFinished), "one was lost")
    }
  }

  @Test(
    "K13, F3: procedures of a key run one at a time, and none is lost, on several threads")
  func race() async {
    for _ in 0..<Rounds.few {
      let queue = ProcedureQueue()
      let store = ProcedureStore<Int>(on: queue)
      let inside = Counter()
      @Sendable func add(_ policy: ProcedureStore<Int>.Policy) -> Procedure {
        let procedure = BlockProcedure {
          inside.increment()
          inside.decrement()
        }
        store.add(procedure, for: 0, policy: policy)
        return procedure
      }
      await ProcedureTestSupport.race(
        { for _ in 0..<20 { _ = add(.inOrder) } },
        { for _ in 0..<20 { add(.inOrder).cancel() } },
        { for _ in 0..<5 { _ = add(.cancelPrevious) } },
        { for _ in 0..<20 { store.latest(0)?.cancel() } })
      await queue.waitUntilAllFinished()
      #expect(inside.highest <= 1 && store.count == 0)
    }
  }
}
