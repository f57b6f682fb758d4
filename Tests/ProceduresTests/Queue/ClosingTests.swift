import Procedures
import ProcedureTestSupport
import ProceduresTesting
import Testing

@Suite(.hangLimit) struct ClosingTests {
  private let scheduler = ManualScheduler()
  private let reports = Recorder<ProcedureDiagnostic>()

  private func makeQueue() -> ProcedureQueue {
    let queue = ProcedureQueue(name: "jobs", scheduler: scheduler)
    queue.diagnosticsHandler = { [reports] in reports.note($0) }
    return queue
  }

  @Test(
    "Q8: a procedure that is added after close() is cancelled, finishes, and is reported; add returns false"
  )
  func refusal() {
    let queue = makeQueue()
    let (before, waiting, after) = (
      TracedProcedure("before", end: .whenTold), TracedProcedure("waiting"),
      TracedProcedure("after")
    )
    waiting.add(dependency: before)
    #expect(queue.add(before) && queue.add(waiting))
    scheduler.run()
    queue.close()
    queue.close()
    #expect(!queue.add(after))
    scheduler.run()
    #expect(after.isFinished && after.isCancelled && after.trace.events.count == 3)
    #expect(
      after.errors.first as? ProcedureError == ProcedureError(.queueClosed, procedure: "jobs"))
    #expect(queue.procedures == [before, waiting])
    before.finish()
    scheduler.run()
    #expect(waiting.outcome == .succeeded)
    #expect(queue.count == 0)
    #expect(reports.events.map(\.code) == [.additionRefused])
    #expect(
      reports.events.first?.description.hasPrefix("'after' was refused. It was added") == true)
    #expect(!queue.add(TracedProcedure(), cancelledBy: .never))
    #expect(queue.add {}.isCancelled)
  }

  @Test("Q8: a refused group cancels its children, and finishes after them")
  func refusedGroup() {
    let queue = makeQueue()
    queue.close()
    let child = TracedProcedure("child")
    let group = GroupProcedure(child)
    #expect(!queue.add(group))
    scheduler.run()
    #expect(!child.trace.events.contains("child execute"))
    #expect(group.isCancelled && child.isCancelled)
  }

  @Test(
    "F3, Q8: a group with children that a closed queue refuses finishes, though its caller lets go of it"
  )
  func refusedGroup() async {
    let queue = ProcedureQueue()
    queue.close()
    for count in 0..<50 {
      weak var gone: GroupProcedure?
      let ended = Gate()
      do {
        let group = GroupProcedure(children: (0..<count % 5).map { _ in BlockProcedure {} })
        group.addDidFinishBlockObserver { _, _ in ended.open() }
        gone = group
        queue.add(group)
      }
      await ended.wait()
      #expect(await eventually { gone == nil })
    }
  }

  @Test(
    "Q8: a closed queue refuses what its procedures produce, and not their children or prerequisites"
  )
  func parts() {
    struct Brings: SynchronousCondition {
      let prerequisite: Procedure
      func prerequisites(of procedure: Procedure) -> [Procedure] { [prerequisite] }
      func evaluate(_ procedure: Procedure) -> ConditionResult {
        prerequisite.isFinished ? .satisfied : .ignored
      }
    }
    let queue = makeQueue()
    let (produced, child, brought) = (
      TracedProcedure("produced"), TracedProcedure("child"), TracedProcedure("brought")
    )
    let producer = BlockProcedure { procedure in try procedure.produce(produced) }
    let group = GroupProcedure()
    group.addWillExecuteBlockObserver { group, _ in _ = group.add(child: child) }
    let conditional = TracedProcedure("conditional")
    conditional.add(condition: Brings(prerequisite: brought))
    queue.add(producer, group, conditional)
    queue.close()
    scheduler.run()
    #expect(producer.outcome == .succeeded)
    #expect(produced.isCancelled && produced.isFinished)
    #expect(child.outcome == .succeeded)
    #expect(brought.outcome == .succeeded)
    #expect(conditional.outcome == .succeeded)
    #expect(queue.count == 0)
  }

  @Test("Q8: drain() closes, and returns when nothing is left")
  func drain() async {
    let queue = ProcedureQueue()
    let (first, second) = (Gate(), Recorder<Int>())
    let slow = AsyncProcedure {
      await first.wait()
      second.note(1)
    }
    queue.add(slow)
    async let drained = queue.drain()
    #expect(await eventually { !queue.add(BlockProcedure {}) })
    first.open()
    #expect(await drained)
    #expect(second.events == [1] && queue.count == 0)
    await queue.drain()
  }

  @Test("Q8: in a task that is cancelled, drain() closes and says that procedures are left")
  func drainCancelled() async throws {
    let (queue, gate) = (ProcedureQueue(), Gate())
    queue.add(AsyncProcedure { await gate.wait() })
    #expect(try await !withTask(cancelledBy: .cancelled) { await queue.drain() })
    #expect(!queue.add(BlockProcedure {}) && queue.count == 1)
    gate.open()
    #expect(await queue.drain())
  }

  @Test(
    "Q8: each procedure that is added against a close is accepted and runs, or refused and never does"
  )
  func race() async {
    for _ in 0..<200 {
      let queue = ProcedureQueue()
      let ran = Counter()
      let accepted = Counter()
      await withTaskGroup { tasks in
        for _ in 0..<4 {
          tasks.addTask {
            for _ in 0..<5 where queue.add(BlockProcedure { ran.increment() }) {
              accepted.increment()
            }
          }
        }
        tasks.addTask { queue.close() }
      }
      await queue.drain()
      #expect(ran.value == accepted.value)
    }
  }

  @Test("G13: a child that its group refuses is reported to the queue's handler")
  func refusedChild() {
    let queue = makeQueue()
    let group = GroupProcedure(TracedProcedure())
    group.name = "files"
    queue.add(group)
    scheduler.run()
    #expect(!group.add(child: TracedProcedure("late")))
    #expect(reports.events.map(\.code) == [.additionRefused])
    #expect(reports.events.first?.procedureName == "late")
    #expect(reports.events.first?.description.contains("group 'files'") == true)
  }

  @Test("Q8: a delegate is not called for the add, or the finish, of a refused one")
  func delegate() {
    final class Delegate: ProcedureQueueDelegate {
      let events = Recorder<String>()
      func procedureQueue(_ queue: ProcedureQueue, willAdd procedure: Procedure) {
        events.note("will add")
      }
      func procedureQueue(_ queue: ProcedureQueue, didAdd procedure: Procedure) {
        events.note("did add")
      }
      func procedureQueue(
        _ queue: ProcedureQueue, didFinish procedure: Procedure, withErrors errors: [any Error]
      ) { events.note("did finish") }
    }
    let queue = makeQueue()
    let delegate = Delegate()
    queue.delegate = delegate
    queue.add(TracedProcedure())
    scheduler.run()
    queue.close()
    queue.add(TracedProcedure())
    scheduler.run()
    #expect(delegate.events.events == ["will add", "did add", "did finish", "will add"])
  }

  @Test(
    "Q8: drain(grace:) gives the members that time, then cancels the rest and waits for it")
  func grace() throws {
    try ProcedureSimulation.explore(seeds: 0..<50) { simulation in
      let queue = simulation.makeQueue(name: "jobs", maxConcurrentProcedureCount: 2)
      let (short, long) = (DelayProcedure(by: .seconds(1)), DelayProcedure(by: .seconds(100)))
      let (waiting, child) = (DelayProcedure(by: .seconds(100)), DelayProcedure(by: .seconds(100)))
      waiting.add(dependency: long)
      queue.add(short, long, waiting, GroupProcedure(child))
      let drain = AsyncResultProcedure { await queue.drain(grace: .seconds(5)) }
      simulation.makeQueue(name: "main").add(drain)
      try simulation.run()
      try simulation.expect(simulation.elapsed == .seconds(5), "took \(simulation.elapsed)")
      try simulation.expect(short.outcome == .succeeded, "it had the time")
      for rest in [long, waiting, child] {
        try simulation.expect(rest.outcome == .cancelled([]), "\(rest)")
      }
      try simulation.expect(try drain.output?.get() == true && queue.count == 0, "not drained")
      try simulation.expect(!queue.add(BlockProcedure {}), "is closed")
    }
  }

  @Test("Q8: a drain with grace that is not used cancels nothing, and leaves nothing behind")
  func unusedGrace() async {
    let queue = ProcedureQueue()
    let quick = BlockProcedure {}
    queue.add(quick)
    #expect(await queue.drain(grace: .seconds(Int64.max)))
    #expect(quick.outcome == .succeeded)
    #expect(await queue.drain(grace: .zero))
  }

  @Test("Q8: a drain without grace cancels all at once, also in a suspended queue")
  func noGrace() async {
    for grace in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
      let queue = ProcedureQueue()
      queue.isSuspended = true
      let (held, late) = (TracedProcedure("held"), TracedProcedure("late"))
      queue.add(held)
      #expect(await queue.drain(grace: grace))
      #expect(held.outcome == .cancelled([]) && !held.trace.events.contains("held execute"))
      queue.diagnosticsHandler = { _ in }
      #expect(!queue.add(late))
    }
  }

  @Test(
    "Q8: a cancel of the draining task ends the grace, and cancels the rest")
  func cancelledGrace() async {
    let queue = ProcedureQueue()
    let stubborn = TracedProcedure("stubborn", end: .whenTold)
    queue.add(stubborn)
    #expect(await eventually { stubborn.isExecuting })
    let drain = Task { await queue.drain(grace: .seconds(3_600)) }
    drain.cancel()
    #expect(await drain.value == false)
    #expect(stubborn.isCancelled && !stubborn.isFinished)
    stubborn.finish()
    #expect(await queue.drain())
  }
}
