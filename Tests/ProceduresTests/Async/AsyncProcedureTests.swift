import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct AsyncProcedureTests {
  private let scheduler = ManualScheduler()
  private let queue = ProcedureQueue()

  @Test("an asynchronous procedure finishes when its body ends, with what it returns or throws")
  func outcomes() async throws {
    let gate = Gate()
    let plain = AsyncProcedure { await gate.wait() }
    let result = AsyncResultProcedure {
      await gate.wait()
      return 1
    }
    let failing = AsyncResultProcedure<Int> { throw TestError("e") }
    let length = AsyncTransformProcedure<String, Int> { text in
      await gate.wait()
      return text.count
    }
    length.injectResult(from: ResultProcedure { "four" }.added(to: queue))
    queue.add(plain, result, failing, length)
    await #expect(throws: TestError("e")) { try await failing.value }
    #expect(!plain.isFinished && !result.isFinished && !length.isFinished)
    gate.open()
    #expect(await plain.waitUntilFinished() == .succeeded)
    #expect(try await result.value == 1)
    #expect(try await length.value == 4)
    #expect(failing.outcome == .failed([TestError("e")]))
  }

  @Test("an asynchronous transform without an input fails, and says so")
  func noInput() async {
    let transform = AsyncTransformProcedure<Int, Int> { $0 }
    let handle = AsyncTransformProcedure<Int, Int>(.callback) { input, finish in
      finish(.success(input))
    }
    for procedure in [transform, handle] {
      _ = await queue.run(procedure)
      #expect((procedure.errors.first as? ProcedureError)?.code == .requirementNotSatisfied)
    }
  }

  @Test("C1: a cancel cancels the task before it returns; CancellationError is then the cancel")
  func cancelled() async {
    let started = Gate()
    let ended = Gate()
    let seen = Recorder<Bool>()
    let procedure = AsyncProcedure {
      await withTaskCancellationHandler {
        started.open()
        await ended.wait()
      } onCancel: {
        seen.note(true)
      }
      try Task.checkCancellation()
    }
    queue.add(procedure)
    await started.wait()
    procedure.cancel(withError: TestError("stop"))
    #expect(seen.events == [true] && !procedure.isFinished)
    ended.open()
    #expect(await procedure.waitUntilFinished() == .cancelled([TestError("stop")]))
    #expect(procedure.output == nil)
  }

  @Test("CancellationError without a cancel is a failure; another error after one is added to it")
  func errors() async {
    let alone = AsyncProcedure { throw CancellationError() }
    #expect(await queue.run(alone) == .failed([CancellationError()]))
    let after = AsyncProcedure { procedure in
      procedure.cancel(withError: TestError("stop"))
      throw TestError("broken")
    }
    #expect(await queue.run(after) == .cancelled([TestError("stop"), TestError("broken")]))
  }

  @Test(
    "C2: the body of a procedure that is cancelled before it executes never runs, and is released")
  func cancelledBefore() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (runs, released) = (Counter(), Counter())
    func make() -> [Procedure] {
      let tracker = Tracker { released.increment() }
      return [
        AsyncProcedure {
          runs.increment()
          withExtendedLifetime(tracker) {}
        },
        AsyncProcedure(.callback) { finish in
          runs.increment()
          withExtendedLifetime(tracker) {}
          finish()
        },
      ]
    }
    let (cancelled, ran) = (make(), make())
    queue.add(cancelled + ran)
    for procedure in cancelled { procedure.cancel() }
    scheduler.run()
    #expect(runs.value == 2 && released.value == 2)
    #expect((cancelled + ran).allSatisfy { $0.isFinished })
    withExtendedLifetime((cancelled, ran)) {}
  }

  @Test("T3: the body runs on the queue's underlying queue, also after it was suspended")
  func underlyingQueue() async {
    let dispatchQueue = DispatchQueue(label: "bodies")
    let queue = ProcedureQueue(underlyingQueue: dispatchQueue)
    let procedure = AsyncProcedure {
      dispatchPrecondition(condition: .onQueue(dispatchQueue))
      await Task.yield()
      dispatchPrecondition(condition: .onQueue(dispatchQueue))
      await Task.detached {}.value
      dispatchPrecondition(condition: .onQueue(dispatchQueue))
    }
    #expect(await queue.run(procedure) == .succeeded)
  }

  @Test("a body that never suspends on a queue of one thread is still cancelled")
  func busyBody() async {
    let queue = ProcedureQueue.withThreadOfItsOwn()
    let started = Gate()
    let procedure = AsyncProcedure {
      started.open()
      while !Task.isCancelled {}
    }
    // Not by this task: while the suite keeps all threads of tasks busy, the body would spin until
    // one is free.
    await onThreadOfItsOwn {
      queue.add(procedure)
      started.block()
      procedure.cancel()
    }
    #expect(await procedure.waitUntilFinished() == .cancelled([]))
  }

  @Test("T1: observers receive a cancel while the body has not suspended yet")
  func busyBodyIsTold() async {
    let (started, isTold) = (Gate(), DispatchSemaphore(value: 0))
    let procedure = AsyncProcedure {
      started.open()
      isTold.wait()
    }
    procedure.addDidExecuteBlockObserver { _ in #expect(!started.isOpen) }
    procedure.addDidCancelBlockObserver { _, _ in isTold.signal() }
    queue.add(procedure)
    await started.wait()
    procedure.cancel()
    #expect(await procedure.waitUntilFinished() == .cancelled([]))
  }

  @Test("Q4: a body that does not suspend keeps no other procedure from starting")
  func blockingBody() async {
    let isReleased = DispatchSemaphore(value: 0)
    let blocking = AsyncProcedure { isReleased.wait() }
    queue.add(blocking, BlockProcedure {}, AsyncProcedure { isReleased.signal() })
    #expect(await blocking.waitUntilFinished() == .succeeded)
  }

  @Test("a body runs although its procedure was finished before it began, or while it runs")
  func finishedBefore() async {
    for isBefore in [true, false] {
      let hasEnded = Gate()
      let procedure = AsyncProcedure { procedure in
        if !isBefore { #expect(procedure.finish()) }
        await Task.yield()
        hasEnded.open()
      }
      if isBefore { procedure.addDidExecuteBlockObserver { $0.finish() } }
      #expect(await queue.run(procedure) == .succeeded)
      await hasEnded.wait()
    }
  }

  /// ```
  /// thread 1 (a step)         thread 2
  /// the body ends             cancel
  ///   has it the turn?          request the turn
  /// look for a turn left here
  /// ```
  @Test("F3: a cancel against the end of a body: it finishes, whether it has suspended or not")
  func cancelAgainstEnd() async {
    for round in 0..<Rounds.few {
      let gate = Gate()
      let procedure = AsyncProcedure {
        if round.isMultiple(of: 2) { await gate.wait() }
      }
      procedure.addDidCancelBlockObserver { _, _ in }
      await race(
        {
          queue.add(procedure)
          gate.open()
        }, { procedure.cancel() })
      let outcome = await procedure.waitUntilFinished()
      #expect(outcome == .succeeded || outcome == .cancelled([]))
    }
  }

  @Test("Q2: a suspended body holds its slot, and no thread")
  func slot() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let gate = Gate()
    let procedure = AsyncProcedure { await gate.wait() }
    let next = BlockProcedure {}
    queue.add(procedure, next)
    scheduler.run()
    #expect(procedure.isExecuting && next.isPending)
    gate.open()
    scheduler.run()
    #expect(procedure.isFinished && next.isFinished)
  }

  @Test("a closure that is isolated to the main actor runs there; so does MainActorProcedure's")
  func mainActor() async throws {
    let trace = Recorder<String>()
    let show = MainActorProcedure {
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
      trace.note("shown")
    }
    let value = AsyncResultProcedure { @MainActor in
      MainActor.assertIsolated()
      return 1
    }
    let failing = MainActorProcedure { throw TestError("e") }
    queue.add(show, value, failing)
    #expect(await show.waitUntilFinished() == .succeeded)
    #expect(trace.events == ["shown"])
    #expect(try await value.value == 1)
    #expect(await failing.waitUntilFinished() == .failed([TestError("e")]))
  }

  @Test("a subclass keeps what it adds; it ends as its base does")
  func subclass() async throws {
    final class Load: AsyncResultProcedure<Int>, @unchecked Sendable {
      let number: Int
      init(_ number: Int) {
        self.number = number
        super.init { () async in number }
      }
    }
    #expect(try await queue.value(of: Load(3)) == 3)
  }

  /// ```
  /// thread 1 (execute)      thread 2
  /// start the task          cancel
  /// note it                   post, look for a task
  ///   look for a cancel
  /// ```
  @Test("C1: a cancel against the start of the task: the task is always cancelled")
  func cancelAgainstStart() async {
    for _ in 0..<Rounds.few {
      let procedure = AsyncProcedure {
        let pending = CancellationTokenSource()
        // Ends only when the task is cancelled.
        await pending.token.waitUntilCancelled()
        withExtendedLifetime(pending) {}
      }
      await race({ queue.add(procedure) }, { procedure.cancel() })
      #expect(await procedure.waitUntilFinished() == .cancelled([]))
    }
  }

  @Test("F4: procedure, task and closure go when it has finished")
  func memory() async {
    final class Tracked: AsyncResultProcedure<Void>, @unchecked Sendable {
      let tracker: Tracker
      init(_ tracker: Tracker, _ body: @escaping @Sendable () async -> Void) {
        self.tracker = tracker
        super.init(body)
      }
    }
    let (closure, procedure) = (Gate(), Gate())
    do {
      let tracker = Tracker { closure.open() }
      let tracked = Tracked(Tracker { procedure.open() }) {
        await Task.yield()
        withExtendedLifetime(tracker) {}
      }
      #expect(await queue.run(tracked) == .succeeded)
    }
    await closure.wait()
    await procedure.wait()
  }
}

extension Procedure {
  /// Adds it, for use in the middle of an expression.
  fileprivate func added(to queue: ProcedureQueue) -> Self {
    queue.add(self)
    return self
  }
}
