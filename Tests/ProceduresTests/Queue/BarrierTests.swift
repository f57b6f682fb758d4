import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct BarrierTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func procedure(_ name: String) -> TracedProcedure {
    TracedProcedure(name, trace: trace, end: .whenToldOrCancelled)
  }

  private var executed: [String] {
    trace.events.filter { $0.hasSuffix("execute") }.map { String($0.prefix { $0 != " " }) }
  }

  @Test("a barrier runs after all that was added before, and before all that was added later")
  func order() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let all = ["a", "b", "B", "c", "d", "D", "e"].map(procedure)
    for (index, next) in all.enumerated() {
      if index == 2 || index == 5 { queue.add(barrier: next) } else { queue.add(next) }
    }
    scheduler.run()
    #expect(executed == ["a", "b"])
    all[0].finish()
    scheduler.run()
    #expect(executed == ["a", "b"])
    all[1].finish()
    scheduler.run()
    #expect(executed == ["a", "b", "B"])
    let late = procedure("f")
    queue.add(late)
    all[2].finish()
    scheduler.run()
    #expect(executed == ["a", "b", "B", "c", "d"])
    all[3].finish()
    all[4].cancel()
    scheduler.run()
    #expect(executed.suffix(1) == ["D"])
    all[5].finish()
    scheduler.run()
    #expect(executed.suffix(2) == ["e", "f"])
    for rest in [all[6], late] { rest.finish() }
    scheduler.run()
    let after = procedure("g")
    queue.add(after)
    scheduler.run()
    #expect(executed.last == "g")
    after.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("a cancelled barrier lets its waiters go on, but not those that an earlier one holds")
  func cancelled() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (a, first, b, second, c) = (
      procedure("a"), procedure("B"), procedure("b"), procedure("D"), procedure("c")
    )
    queue.add(a)
    queue.add(barrier: first)
    queue.add(b)
    queue.add(barrier: second)
    queue.add(c)
    scheduler.run()
    second.cancel()
    scheduler.run()
    #expect(second.isFinished && executed == ["a"])
    first.cancel()
    scheduler.run()
    #expect(executed == ["a", "b", "c"])
    // One that is added now waits for nothing; a new barrier does.
    let (d, third) = (procedure("d"), procedure("E"))
    queue.add(d)
    queue.add(barrier: third)
    scheduler.run()
    #expect(executed == ["a", "b", "c", "d"])
    for procedure in [a, b, c, d] { procedure.finish() }
    scheduler.run()
    #expect(executed.last == "E")
    third.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test(
    "procedures behind a barrier that are cancelled finish, in a suspended queue too, and hold nothing up"
  )
  func held() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (a, barrier, b, c) = (procedure("a"), procedure("B"), procedure("b"), procedure("c"))
    queue.isSuspended = true
    queue.add(a)
    queue.add(barrier: barrier)
    queue.add(b, c)
    b.cancel()
    scheduler.run()
    #expect(b.isFinished && queue.procedures == [a, barrier, c])
    queue.isSuspended = false
    scheduler.run()
    a.finish()
    scheduler.run()
    barrier.finish()
    scheduler.run()
    #expect(executed == ["a", "B", "c"])
    queue.cancelAll()
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("dependencies, conditions and groups behind a barrier wait for it as well")
  func others() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (a, barrier, child) = (
      procedure("a"), procedure("B"), TracedProcedure("child", trace: trace)
    )
    let group = GroupProcedure(child)
    let dependent = TracedProcedure("dependent", trace: trace)
    dependent.add(dependency: a)
    let conditional = TracedProcedure("conditional", trace: trace)
    conditional.add(
      condition: BlockCondition { [trace] in
        trace.note("condition execute")
        return true
      })
    queue.add(a)
    queue.add(barrier: barrier)
    queue.add(group, dependent, conditional)
    scheduler.run()
    #expect(executed == ["a"])
    a.finish()
    scheduler.run()
    #expect(executed == ["a", "B"])
    barrier.finish()
    scheduler.run()
    #expect(Set(executed) == ["a", "B", "child", "dependent", "condition", "conditional"])
    #expect(queue.count == 0)
  }

  @Test("Q7: a cycle across a barrier is found, and ended")
  func cycle() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (before, barrier, behind) = (
      TracedProcedure("before"), TracedProcedure("barrier"), TracedProcedure("behind")
    )
    before.add(dependency: behind)
    queue.add(before)
    queue.add(barrier: barrier)
    queue.add(behind)
    #expect("\(queue.snapshot())".contains("a barrier has it wait for 'before'"))
    scheduler.run()
    let error = before.errors.first as? ProcedureError
    #expect(error?.code == .dependencyCycle, "\(before), \(queue.snapshot())")
    #expect(Set(error?.cycle ?? []) == ["before", "barrier", "behind"] && queue.count == 0)
  }

  @Test("a closed queue refuses a barrier, and what waits for one goes on")
  func closed() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let barrier = procedure("B")
    let refused = procedure("D")
    queue.add(barrier: barrier)
    queue.add(TracedProcedure("a", trace: trace))
    queue.close()
    #expect(!queue.add(barrier: refused))
    scheduler.run()
    barrier.finish()
    scheduler.run()
    #expect(executed == ["B", "a"] && refused.isFinished && queue.count == 0)
  }

  @Test(
    "a barrier overlaps nothing, whatever several threads add")
  func overlap() async {
    for _ in 0..<50 {
      let queue = ProcedureQueue()
      let (running, wrong) = (Counter(), Counter())
      await withTaskGroup { tasks in
        for _ in 0..<4 {
          tasks.addTask {
            for index in 0..<25 {
              if index.isMultiple(of: 5) {
                queue.add(
                  barrier: BlockProcedure { if running.value > 0 { wrong.increment() } })
              } else {
                queue.add {
                  running.increment()
                  running.decrement()
                }
              }
            }
          }
        }
      }
      await queue.waitUntilAllFinished()
      #expect(wrong.value == 0)
    }
  }

  @Test("a finished barrier is released, also one of thousands")
  func memory() {
    weak var released: TracedProcedure?
    let queue = ProcedureQueue(scheduler: scheduler)
    do {
      let barrier = TracedProcedure("B")
      released = barrier
      queue.add(barrier: barrier)
      queue.add(TracedProcedure("a"))
    }
    scheduler.run()
    #expect(released == nil)
    for index in 0..<6_000 {
      if index.isMultiple(of: 2) {
        queue.add(barrier: TracedProcedure())
      } else {
        queue.add(TracedProcedure())
      }
    }
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("Q7: the waits of 10,000 procedures behind a barrier are found in linear time")
  func growth() async {
    @Sendable func look(at count: Int) -> Double {
      let queue = ProcedureQueue(scheduler: scheduler)
      queue.isSuspended = true
      queue.add(TracedProcedure())
      queue.add(barrier: TracedProcedure("B"))
      for _ in 0..<count { queue.add(TracedProcedure()) }
      return (0..<3).map { _ in processorTime { _ = queue.snapshot() } }.min()!
    }
    let (few, many) = await onThreadOfItsOwn { (look(at: 400), look(at: 8_000)) }
    #expect(many < few * 60, "400: \(few) s, 8,000: \(many) s")
  }
}
