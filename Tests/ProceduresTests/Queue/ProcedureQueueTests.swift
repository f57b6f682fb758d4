import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ProcedureQueueTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  @Test("Q1: ready procedures run by priority, then in the order in which they became ready")
  func order() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    queue.isSuspended = true
    for (index, priority) in [ProcedurePriority.low, .normal, .veryHigh, .normal, .low].enumerated()
    {
      let procedure = TracedProcedure("\(index)", trace: trace)
      procedure.priority = priority
      queue.add(procedure)
    }
    queue.isSuspended = false
    scheduler.run()
    #expect(
      trace.events.filter { $0.hasSuffix("execute") } == [2, 1, 3, 0, 4].map { "\($0) execute" })
  }

  @Test("Q1: a serial queue is serial in order, also for dependents that become ready")
  func serial() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    queue.isSuspended = true
    let order = Recorder<Int>()
    let procedures = (0..<500).map { index in BlockProcedure { order.note(index) } }
    procedures[2].add(dependency: procedures[0])
    queue.add(procedures)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    // 2 becomes ready when 0 is done, and so stands behind all that were ready from the beginning.
    #expect(order.events == [0, 1] + Array(3..<500) + [2])
  }

  @Test("Q2: at most maxConcurrentProcedureCount run; waiting ones take no slot")
  func slots() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 2)
    let running = Counter()
    let blocker = TracedProcedure("blocker", end: .whenTold)
    let waiters = (0..<10).map { _ in BlockProcedure {} }
    for waiter in waiters { waiter.add(dependency: blocker) }
    queue.add(waiters)
    queue.add(blocker)
    let rest = (0..<200).map { _ in
      BlockProcedure {
        running.increment()
        running.decrement()
      }
    }
    queue.add(rest)
    for procedure in rest { _ = await procedure.waitUntilFinished() }
    #expect(running.highest <= 1)
    #expect(blocker.isExecuting)
    blocker.finish()
    await queue.waitUntilAllFinished()
    #expect(waiters.allSatisfy { $0.isFinished })
  }

  @Test("Q2: raising the limit starts more; lowering it interrupts nothing")
  func changingTheLimit() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let procedures = (0..<4).map { TracedProcedure("\($0)", end: .whenTold) }
    queue.add(procedures)
    scheduler.run()
    #expect(procedures.filter(\.isExecuting).count == 1)
    queue.maxConcurrentProcedureCount = 3
    scheduler.run()
    #expect(procedures.filter(\.isExecuting).count == 3)
    queue.maxConcurrentProcedureCount = 1
    procedures[0].finish()
    scheduler.run()
    #expect(procedures.filter(\.isExecuting).count == 2)
  }

  @Test("Q3: a suspended queue starts nothing new; executing ones go on")
  func suspension() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let running = TracedProcedure("running", end: .whenTold)
    queue.add(running)
    scheduler.run()
    queue.isSuspended = true
    let next = TracedProcedure("next")
    queue.add(next)
    running.finish()
    scheduler.run()
    #expect(running.isFinished && next.isPending && queue.isSuspended)
    queue.isSuspended = false
    scheduler.run()
    #expect(next.isFinished)
  }

  @Test("Q4: a blocking execute() never stalls the other ready procedures")
  func blocking() async {
    // Not the quality of the test runner's own threads, which must not be blocked.
    let queue = ProcedureQueue(qualityOfService: .userInitiated)
    let release = Gate()
    // One: with every thread of its pool blocked, Dispatch on Linux takes a second to add another.
    let blocked = BlockProcedure { release.block() }
    queue.add(blocked)
    for _ in 0..<50 {
      #expect(await queue.run(BlockProcedure {}) == .succeeded)
    }
    #expect(!blocked.isFinished)
    release.open()
    await queue.waitUntilAllFinished()
  }

  @Test("Q4: before a worker runs user code and leaves others behind, it asks for another worker")
  func anotherWorker() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let submissions = Recorder<Int>()
    queue.add(
      (0..<3).map { _ in
        BlockProcedure { [scheduler] in submissions.note(scheduler.submissions) }
      })
    scheduler.run()
    #expect(submissions.events == [2, 2, 2])
  }

  @Test("Q5: cancelAll cancels all unfinished ones with the errors; later ones are not affected")
  func cancelAll() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let running = TracedProcedure("running", end: .whenToldOrCancelled)
    let waiting = TracedProcedure("waiting")
    waiting.add(dependency: running)
    queue.add(running, waiting)
    scheduler.run()
    queue.cancelAll(withErrors: [TestError("all")])
    let later = TracedProcedure("later")
    queue.add(later)
    scheduler.run()
    #expect(running.outcome == .cancelled([TestError("all")]))
    #expect(waiting.outcome == .cancelled([TestError("all")]))
    #expect(later.outcome == .succeeded)
  }

  @Test("Q5: all that cancelAll cancels reads cancelled before any delivery, and makes no room")
  func cancelAllMarksFirst() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let running = TracedProcedure("running", end: .whenToldOrCancelled)
    let waiting = TracedProcedure("waiting")
    let seen = Recorder<Bool>()
    running.cancellationToken.onCancel { seen.note(waiting.isCancelled) }
    queue.add(running, waiting)
    scheduler.run()
    queue.cancelAll()
    scheduler.run()
    #expect(seen.events == [true])
    #expect(waiting.isFinished && !waiting.trace.events.contains("waiting execute"))
  }

  @Test("Q5: procedures and count are snapshots of the unfinished, in the order of adding")
  func snapshots() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedures = (0..<5).map { TracedProcedure("\($0)", end: .whenTold) }
    procedures[1].add(dependency: procedures[4])
    queue.add(procedures)
    scheduler.run()
    #expect(queue.procedures == procedures && queue.count == 5)
    procedures[2].finish()
    scheduler.run()
    #expect(queue.procedures.map(\.name) == ["0", "1", "3", "4"] && queue.count == 4)
  }

  @Test("Q5: waitUntilAllFinished blocks a thread, and awaits, until nothing is unfinished")
  func waiting() async {
    let queue = ProcedureQueue()
    await queue.waitUntilAllFinished()
    let procedure = TracedProcedure(end: .whenTold)
    queue.add(procedure)
    let (blocked, returned) = (Gate(), Gate())
    DispatchQueue(label: "waiting").async {
      blocked.open()
      queue.blockUntilAllFinished()
      returned.open()
    }
    await blocked.wait()
    let cancelled = Task { await queue.waitUntilAllFinished() }
    cancelled.cancel()
    await cancelled.value
    #expect(!returned.isOpen && queue.count == 1)
    async let waiter: Void = queue.waitUntilAllFinished()
    #expect(await eventually { procedure.finish() })
    await waiter
    await returned.wait()
    #expect(queue.count == 0)
  }

  @Test("Q5: the delegate hears will and did add, will and did finish, after the observers")
  func delegate() {
    final class Delegate: ProcedureQueueDelegate {
      let trace: Recorder<String>
      init(trace: Recorder<String>) { self.trace = trace }
      func procedureQueue(_ queue: ProcedureQueue, willAdd procedure: Procedure) {
        trace.note("willAdd \(procedure.state)")
      }
      func procedureQueue(_ queue: ProcedureQueue, didAdd procedure: Procedure) {
        trace.note("didAdd \(procedure.state)")
      }
      func procedureQueue(
        _ queue: ProcedureQueue, willFinish procedure: Procedure, withErrors errors: [any Error]
      ) {
        trace.note("willFinish \(errors)")
      }
      func procedureQueue(
        _ queue: ProcedureQueue, didFinish procedure: Procedure, withErrors errors: [any Error]
      ) {
        trace.note("didFinish \(procedure.isFinished)")
      }
    }
    let queue = ProcedureQueue(scheduler: scheduler)
    var delegate: Delegate? = Delegate(trace: trace)
    queue.delegate = delegate
    let procedure = BlockProcedure { throw TestError("e") }
    procedure.addWillFinishBlockObserver { [trace] _, _, _ in trace.note("observer") }
    queue.add(procedure)
    scheduler.run()
    #expect(
      trace.events == [
        "willAdd initialized", "didAdd pending", "observer", "willFinish [e]", "didFinish true",
      ])
    delegate = nil
    #expect(queue.delegate == nil)
    queue.add(BlockProcedure {})
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("Q5, O1: a delegate, or an observer, that an override brings receives what comes after")
  func broughtByOverride() {
    final class Delegate: ProcedureQueueDelegate {
      let trace: Recorder<String>
      init(trace: Recorder<String>) { self.trace = trace }
      func procedureQueue(
        _ queue: ProcedureQueue, didFinish procedure: Procedure, withErrors errors: [any Error]
      ) {
        trace.note("delegate didFinish")
      }
    }
    final class Bringing: Procedure, @unchecked Sendable {
      var bring: (Procedure) -> Void = { _ in }
      override func execute() { finish() }
      override func procedureWillFinish(withErrors errors: [any Error]) { bring(self) }
    }
    let queue = ProcedureQueue(scheduler: scheduler)
    let delegate = Delegate(trace: trace)
    let procedures = [Bringing(), Bringing()]
    procedures[0].bring = { [trace] procedure in
      procedure.addDidFinishBlockObserver { _, _ in trace.note("observer didFinish") }
    }
    procedures[1].bring = { _ in queue.delegate = delegate }
    queue.add(procedures)
    scheduler.run()
    #expect(trace.events == ["observer didFinish", "delegate didFinish"])
  }

  @Test("Q6: a queue released by its owner still runs what was added to it")
  func released() {
    let procedures = (0..<3).map { TracedProcedure("\($0)") }
    for index in 1..<3 { procedures[index].add(dependency: procedures[index - 1]) }
    var queue: ProcedureQueue? = ProcedureQueue(scheduler: scheduler)
    weak let reference = queue
    queue?.add(procedures)
    queue = nil
    #expect(reference == nil)
    scheduler.run()
    #expect(procedures.allSatisfy { $0.isFinished })
  }

  @Test("run(_:) adds and waits; cancelling the task cancels the procedure and waits for its end")
  func run() async {
    let queue = ProcedureQueue()
    let started = Gate()
    let procedure = TracedProcedure(end: .whenToldOrCancelled)
    procedure.addWillExecuteBlockObserver { _, _ in started.open() }
    let task = Task { await queue.run(procedure) }
    await started.wait()
    task.cancel()
    #expect(await task.value == .cancelled([]))
    #expect(procedure.isFinished)
    #expect(procedure.cancellationToken.reason == .taskCancelled)
  }

  @Test("dependencies hold across queues, may be added while waiting, and may be removed")
  func dependencies() {
    let (one, two) = (ProcedureQueue(scheduler: scheduler), ProcedureQueue(scheduler: scheduler))
    let first = TracedProcedure("first", end: .whenTold)
    let removed = TracedProcedure("removed", end: .whenTold)
    let second = TracedProcedure("second")
    second.add(dependencies: [first, removed])
    one.add(first, removed)
    two.add(second)
    scheduler.run()
    let third = TracedProcedure("third", end: .whenTold)
    second.add(dependency: third)
    one.add(third)
    scheduler.run()
    #expect(second.dependencies == [first, removed, third])
    first.finish()
    third.finish()
    scheduler.run()
    #expect(second.isPending)
    second.remove(dependency: removed)
    scheduler.run()
    #expect(second.isFinished)
  }

  @Test("a dependency added to a ready procedure makes it wait again")
  func dependencyOfAReadyOne() {
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.isSuspended = true
    let procedure = TracedProcedure("procedure")
    queue.add(procedure)
    let dependency = TracedProcedure("dependency", end: .whenTold)
    procedure.add(dependency: dependency)
    queue.add(dependency)
    queue.isSuspended = false
    scheduler.run()
    #expect(procedure.isPending && dependency.isExecuting)
    dependency.finish()
    scheduler.run()
    #expect(procedure.isFinished)
  }

  @Test(
    "Q2, F3: a dependency added after a worker took it, before it started, frees the slot again")
  func dependencyOfATakenOne() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let (procedure, dependency) = (TracedProcedure("procedure"), TracedProcedure("dependency"))
    procedure.add(
      observer: BlockObserver(didAttach: { procedure in
        procedure.add(dependency: dependency)
        queue.add(dependency)
      }))
    queue.add(procedure)
    scheduler.run()
    #expect(dependency.isFinished && procedure.isFinished)
  }

  @Test("Q6: a suspended queue that its owner releases is resumed: no other thread could do so")
  func releasedSuspended() {
    let procedure = TracedProcedure()
    var queue: ProcedureQueue? = ProcedureQueue(scheduler: scheduler)
    queue?.isSuspended = true
    queue?.add(procedure)
    scheduler.run()
    #expect(procedure.isPending)
    queue = nil
    scheduler.run()
    #expect(procedure.isFinished)
  }

  @Test("C8: a dependent runs after a failed and after a cancelled dependency")
  func orderNotSuccess() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let failed = TracedProcedure(failure: TestError())
    let cancelled = TracedProcedure()
    let dependent = TracedProcedure()
    dependent.add(dependencies: [failed, cancelled])
    queue.add(failed, cancelled, dependent)
    cancelled.cancel()
    scheduler.run()
    #expect(dependent.outcome == .succeeded)
  }

  @Test("a quality of service of its own is honoured, on a worker of its own")
  func quality() async {
    let queue = ProcedureQueue(qualityOfService: .utility)
    let procedure = BlockProcedure {}
    procedure.qualityOfService = .userInitiated
    #expect(procedure.qualityOfService == .userInitiated && queue.qualityOfService == .utility)
    #expect(await queue.run(procedure) == .succeeded)
  }

  @Test("on a user's own Dispatch queue, a worker lets others go first after a few procedures")
  func yielding() async {
    let underlying = DispatchQueue(label: "shared")
    let queue = ProcedureQueue(underlyingQueue: underlying)
    let order = Recorder<String>()
    queue.isSuspended = true
    queue.add((0..<100).map { index in BlockProcedure { order.note("\(index)") } })
    underlying.suspend()
    queue.isSuspended = false
    underlying.async { order.note("other") }
    underlying.resume()
    await queue.waitUntilAllFinished()
    let position = order.events.firstIndex(of: "other")!
    #expect(position > 0 && position < 100)
  }

  @Test("produce adds to the same queue, between will-add and did-add, and throws when not queued")
  func produce() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let produced = TracedProcedure("produced", trace: trace)
    let producer = BlockProcedure { procedure in
      try procedure.produce(produced)
    }
    producer.name = "producer"
    producer.add(observer: TraceObserver(trace: trace))
    #expect(throws: ProcedureError.self) { try producer.produce(TracedProcedure()) }
    queue.add(producer)
    scheduler.run()
    let events = trace.events
    #expect(events.firstIndex(of: "producer willAdd produced")! > 1)
    #expect(
      events.firstIndex(of: "producer didAdd produced")!
        < events.firstIndex(of: "producer willFinish")!)
    #expect(produced.isFinished)
    #expect(throws: ProcedureError.self) { try producer.produce(TracedProcedure()) }
  }

  @Test(
    "F3: a procedure starts that is added after a waiting one, and a resume that changed nothing")
  func addedBehindWaiting() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let (waiting, ready) = (TracedProcedure("waiting"), TracedProcedure("ready"))
    waiting.add(dependency: ready)
    queue.add(waiting)
    queue.isSuspended = false
    queue.add(ready)
    scheduler.run()
    #expect(ready.isFinished && waiting.isFinished)
  }

  @Test("one thread runs all stages of a group that has begun before those of the next")
  func laterStagesFirst() async {
    let queue = ProcedureQueue(threads: 1)
    let order = Recorder<String>()
    queue.isSuspended = true
    for index in 0..<50 {
      let decode = BlockProcedure { order.note("decode \(index)") }
      let write = AsyncProcedure { order.note("write \(index)") }
      write.add(dependency: decode)
      queue.add(GroupProcedure(decode, write))
    }
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect(order.events == (0..<50).flatMap { ["decode \($0)", "write \($0)"] })
  }
}
