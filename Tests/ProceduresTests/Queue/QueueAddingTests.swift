import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct QueueAddingTests {
  private final class Work: Procedure, @unchecked Sendable {
    override func execute() { finish() }
  }

  @Test("a queue, a group, dependencies and the builder take sequences of a subclass")
  func sequences() async {
    let queue = ProcedureQueue()
    let array: [Work] = [Work(), Work()]
    let set: Set<Work> = [Work(), Work()]
    queue.add(array)
    queue.add(set)
    queue.add((0..<2).lazy.map { _ in Work() })
    let group = GroupProcedure(children: [Work(), Work()])
    group.add(children: [Work()])
    group.add(children: Set([Work()]))
    group.add(children: Work(), Work())
    let ofSet = GroupProcedure(children: Set([Work()]))
    let built = GroupProcedure {
      [Work(), Work()]
      Set([Work()])
    }
    let (first, second) = (Work(), Work())
    let dependent = Work()
    dependent.add(dependencies: first, second)
    dependent.add(dependencies: [group])
    dependent.add(dependencies: Set([Work]()))
    let count = dependent.dependencies.count
    queue.add(group, ofSet, built, dependent, first, second)
    await queue.waitUntilAllFinished()
    #expect(group.children.count == 6 && ofSet.children.count == 1 && built.children.count == 3)
    #expect(count == 3)
    #expect(dependent.outcome == .succeeded)
  }

  @Test("a closure can be added, and is a procedure that can be waited for")
  func closure() async {
    let queue = ProcedureQueue()
    let ran = Recorder<Int>()
    let procedure = queue.add { ran.note(1) }
    let failing = queue.add { throw TestError("e") }
    #expect(await procedure.waitUntilFinished() == .succeeded)
    #expect(ran.events == [1])
    #expect(await failing.waitUntilFinished() == .failed([TestError("e")]))
  }

  @Test("Q9: blocking calls have names of their own, and return the outcome")
  func blocking() async {
    let queue = ProcedureQueue.withThreadOfItsOwn()
    let outcomes = await onThreadOfItsOwn {
      let (work, unfinished) = (Work(), Work())
      queue.add(work)
      let first = work.blockUntilFinished()
      queue.isSuspended = true
      queue.add(unfinished)
      unfinished.cancel()
      let second = unfinished.blockUntilFinished()
      queue.blockUntilAllFinished()
      return "\(first), \(second), \(work.blockUntilFinished())"
    }
    #expect(outcomes == "succeeded, cancelled, succeeded")
  }

  @Test("a queue's name may be set, by several threads at once")
  func name() async {
    let queue = ProcedureQueue()
    #expect(queue.name == "ProcedureQueue")
    await withTaskGroup { tasks in
      for index in 0..<8 { tasks.addTask { queue.name = "queue \(index)" } }
    }
    #expect(queue.name.hasPrefix("queue ") && queue.description.hasPrefix("'queue "))
  }

  @Test("Z3: tasks sleep on a queue's clock, in its time")
  func clock() async throws {
    let test = TestClock()
    let queue = ProcedureQueue(clock: test.clock)
    let woken = Recorder<String>()
    let sleeper = AsyncProcedure {
      try await queue.clock.sleep(for: .seconds(3600))
      woken.note("woken")
    }
    let cancelled = AsyncProcedure { try await queue.clock.sleep(for: .seconds(7200)) }
    queue.add(sleeper, cancelled)
    #expect(await eventually { test.pendingCount >= 2 })
    cancelled.cancel()
    _ = await cancelled.waitUntilFinished()
    #expect(test.pendingCount == 1 && woken.events.isEmpty && cancelled.errors.isEmpty)
    test.advance(by: .seconds(3600))
    #expect(await sleeper.waitUntilFinished() == .succeeded)
    #expect(woken.events == ["woken"])
    try await queue.clock.sleep(for: .zero)
    try await ProcedureQueue().clock.sleep(for: .milliseconds(1))
    let task = Task { try await queue.clock.sleep(for: .seconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("conditions are taken as lists of mixed types, and of one type")
  func conditions() async {
    let yes = BlockCondition { true }
    let procedure = Work()
    procedure.add(conditions: yes, NoFailedDependencies())
    procedure.add(conditions: [yes, NotCondition(BlockCondition { false })])
    procedure.add(condition: AndCondition([yes, NoFailedDependencies()]))
    procedure.add(condition: OrCondition([BlockCondition { false }, NoFailedDependencies()]))
    procedure.add(condition: AndCondition([yes, yes].lazy.map { $0 }))
    #expect(await ProcedureQueue().run(procedure) == .succeeded)
    #expect(procedure.conditions.isEmpty)
  }

  @Test("a barrier can be a closure, which runs alone")
  func barrier() async throws {
    let queue = ProcedureQueue()
    let running = Counter()
    let seen = Recorder<Int>()
    let before = AsyncProcedure(name: "before") {
      running.increment()
      await Task.yield()
      running.decrement()
    }
    queue.add(before)
    let barrier = queue.add(barrier: { seen.note(running.value) })
    let failing = queue.add(barrier: { throw TestError("no") })
    queue.add { seen.note(-1) }
    await queue.waitUntilAllFinished()
    #expect(seen.events == [0, -1])
    #expect(barrier.outcome == .succeeded)
    #expect(failing.outcome == .failed([TestError("no")]))
  }

  @Test("cancelAll cancels with one error, or with none")
  func cancelAll() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let (first, second) = (BlockProcedure {}, BlockProcedure {})
    queue.add(first)
    queue.cancelAll(withError: TestError("late"))
    queue.add(second)
    queue.cancelAll(withError: nil)
    await queue.waitUntilAllFinished()
    #expect(first.outcome == .cancelled([TestError("late")]))
    #expect(second.outcome == .cancelled([]))
  }

  @Test("a closure that is on the main actor runs there")
  func onMainActor() async {
    let queue = ProcedureQueue()
    let seen = Recorder<String>()
    let shows = queue.add { @MainActor in
      MainActor.assertIsolated()
      seen.note("shown")
    }
    let fails = queue.add { @MainActor in throw TestError("no") }
    #expect(await shows.waitUntilFinished() == .succeeded)
    #expect(seen.events == ["shown"])
    #expect(await fails.waitUntilFinished() == .failed([TestError("no")]))
  }
}
