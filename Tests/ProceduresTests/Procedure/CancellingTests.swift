import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct CancellingTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("C1: flag, token on the caller's thread, then in the next turn override, then observers")
  func sequence() {
    let procedure = TracedProcedure(trace: trace, end: .whenToldOrCancelled)
    procedure.addDidCancelBlockObserver { [trace] _, _ in trace.note("observer 1") }
    procedure.addDidCancelBlockObserver { [trace] _, _ in trace.note("observer 2") }
    procedure.cancellationToken.onCancel { [trace, unowned procedure] in
      trace.note("token, isCancelled \(procedure.isCancelled)")
    }
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.cancel(withErrors: []))
    #expect(procedure.isCancelled)
    #expect(trace.events == ["p execute", "token, isCancelled true"])
    scheduler.run()
    #expect(
      trace.events.dropFirst(2) == [
        "p procedureDidCancel", "observer 1", "observer 2", "p procedureWillFinish",
        "p procedureDidFinish",
      ])
  }

  @Test(
    "C2: a procedure that is cancelled while it waits drops its dependencies and finishes without executing"
  )
  func whileWaiting() {
    let dependency = TracedProcedure("dependency", end: .whenTold)
    let procedure = TracedProcedure(trace: trace)
    procedure.observeEverything()
    procedure.add(dependency: dependency)
    let queue = makeQueue()
    queue.add(dependency, procedure)
    scheduler.run()
    procedure.cancel()
    scheduler.run()
    #expect(
      trace.events == [
        "p procedureDidCancel", "p didAttach", "p didCancel", "p procedureWillFinish",
        "p willFinish", "p procedureDidFinish", "p didFinish",
      ])
    #expect(procedure.isFinished && queue.procedures == [dependency])
    dependency.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("C3: a cancelled pending procedure finishes in a suspended and in a full queue")
  func suspendedAndFull() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let blocker = TracedProcedure("blocker", end: .whenTold)
    let waiting = TracedProcedure("waiting", trace: trace)
    queue.add(blocker, waiting)
    scheduler.run()
    waiting.cancel()
    scheduler.run()
    #expect(waiting.isFinished && blocker.isExecuting)
    queue.isSuspended = true
    let suspended = TracedProcedure("suspended", trace: trace)
    queue.add(suspended)
    suspended.cancel()
    scheduler.run()
    #expect(suspended.isFinished)
    #expect(!trace.events.contains { $0.hasSuffix("execute") })
  }

  @Test("C4: after execute() was called, the framework never finishes it")
  func authorFinishes() {
    let procedure = TracedProcedure(trace: trace, end: .whenTold)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    procedure.cancel()
    scheduler.run()
    #expect(procedure.isCancelled && procedure.isExecuting)
    procedure.finish(withError: TestError("late"))
    scheduler.run()
    #expect(procedure.outcome == .cancelled([TestError("late")]))
  }

  @Test("C4: the token interrupts a blocking execute(); override and observers wait for its return")
  func interruptingAWaitingCall() async {
    let (entered, interrupted) = (Gate(), Gate())
    let procedure = BlockProcedure { [trace] procedure in
      procedure.cancellationToken.onCancel { interrupted.open() }
      entered.open()
      interrupted.block()
      trace.note("returned")
    }
    procedure.addDidCancelBlockObserver { [trace] _, _ in trace.note("didCancel") }
    let queue = ProcedureQueue.withThreadOfItsOwn()
    queue.add(procedure)
    await entered.wait()
    procedure.cancel()
    #expect(await procedure.waitUntilFinished() == .cancelled([]))
    #expect(trace.events == ["returned", "didCancel"])
  }

  @Test("C5: the first cancel wins; later ones change nothing and return false")
  func firstWins() {
    let procedure = TracedProcedure(trace: trace)
    procedure.addDidCancelBlockObserver { procedure, _ in
      #expect(!procedure.cancel(withError: TestError("from the observer")))
    }
    let queue = makeQueue()
    queue.add(procedure)
    #expect(procedure.cancel(withErrors: [TestError("first")]))
    #expect(!procedure.cancel(withErrors: [TestError("second")]))
    scheduler.run()
    #expect(!procedure.cancel(withError: nil))
    #expect(procedure.outcome == .cancelled([TestError("first")]))
    #expect(trace.events.filter { $0 == "p procedureDidCancel" }.count == 1)
  }

  @Test("C5: a cancel after finish() is late, also before the finish took effect")
  func afterFinish() {
    let procedure = TracedProcedure(trace: trace, end: .whenTold)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    procedure.finish()
    #expect(!procedure.cancel(withErrors: [TestError()]))
    #expect(!procedure.isCancelled)
    scheduler.run()
    #expect(procedure.outcome == .succeeded)
    #expect(!trace.events.contains("p procedureDidCancel"))
  }

  @Test("C1: observers that are new at the cancel are called in the order of adding")
  func newObservers() {
    let procedure = TracedProcedure(trace: trace, end: .whenTold)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    procedure.addDidCancelBlockObserver { [trace] _, _ in trace.note("first") }
    procedure.add(observer: TraceObserver(trace: trace, label: " second"))
    procedure.addDidCancelBlockObserver { [trace] _, _ in trace.note("third") }
    procedure.cancel()
    scheduler.run()
    #expect(
      trace.events == [
        "p execute", "p procedureDidCancel", "first", "p didAttach second", "p didCancel second",
        "third",
      ])
    procedure.finish()
    scheduler.run()
  }

  @Test("C5: didCancel comes before willFinish after a cancel and a finish inside execute()")
  func cancelThenFinishInsideExecute() {
    final class Both: Procedure, @unchecked Sendable {
      override func execute() {
        cancel()
        finish(withError: TestError("f"))
      }
    }
    let procedure = Both()
    procedure.add(observer: TraceObserver(trace: trace))
    makeQueue().add(procedure)
    scheduler.run()
    #expect(
      trace.events.map { String($0.dropFirst("Both ".count)) } == [
        "didAttach", "willExecute", "didCancel", "didExecute", "willFinish", "didFinish",
      ])
    #expect(procedure.outcome == .cancelled([TestError("f")]))
  }

  @Test(
    "C6: errors are those of the cancel at once, then those of the finish; DidCancel gets the former"
  )
  func errors() {
    let procedure = TracedProcedure(trace: trace, end: .whenTold)
    procedure.addDidCancelBlockObserver { [trace] _, errors in trace.note("told \(errors)") }
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    procedure.cancel(withErrors: [TestError("a"), TestError("b")])
    #expect(procedure.errors as? [TestError] == ["a", "b"].map { TestError($0) })
    procedure.finish(withErrors: [TestError("c")])
    scheduler.run()
    #expect(procedure.errors as? [TestError] == ["a", "b", "c"].map { TestError($0) })
    #expect(trace.events.contains("told [a, b]"))
  }

  @Test(
    "C7: a cancel before the enqueue is delivered at once, and the procedure finishes when it is enqueued"
  )
  func beforeEnqueue() async {
    let told = Gate()
    let procedure = TracedProcedure(trace: trace)
    procedure.cancellationToken.onCancel { [trace] in trace.note("token") }
    procedure.addDidCancelBlockObserver { _, _ in told.open() }
    #expect(procedure.cancel(withErrors: [TestError("early")]))
    #expect(procedure.isCancelled && trace.events.first == "token")
    await told.wait()
    #expect(!procedure.isFinished && procedure.state == .initialized)
    #expect(await ProcedureQueue().run(procedure) == .cancelled([TestError("early")]))
    #expect(!trace.events.contains("p execute"))
  }

  @Test("K12: the token fires with the cancel and completes not cancelled with the finish")
  func token() {
    let cancelled = TracedProcedure(end: .whenTold)
    let finished = TracedProcedure(end: .whenTold)
    let queue = makeQueue()
    queue.add(cancelled, finished)
    let (first, second) = (cancelled.cancellationToken, finished.cancellationToken)
    scheduler.run()
    #expect(first == cancelled.cancellationToken && first != second)
    cancelled.cancel(withError: TestError("why"))
    #expect(first.isCancelled)
    #expect(first.reason == .failure(TestError("why")))
    finished.finish()
    scheduler.run()
    #expect(second.isCompleted && !second.isCancelled)
    #expect(finished.cancellationToken == second)
    // Asked for late.
    let fresh = TracedProcedure()
    #expect(!fresh.cancellationToken.isCompleted)
    let late = TracedProcedure()
    queue.add(late)
    scheduler.run()
    #expect(late.cancellationToken.isCompleted && !late.cancellationToken.isCancelled)
    let lateCancelled = TracedProcedure()
    lateCancelled.cancel()
    #expect(lateCancelled.cancellationToken.isCancelled)
  }

  @Test("K12: cancel(when:) passes the token's reason on and leaves the token at the finish")
  func cancelWhen() {
    let source = CancellationTokenSource()
    let procedure = TracedProcedure(end: .whenToldOrCancelled)
    procedure.cancel(when: source.token)
    let queue = makeQueue()
    queue.add(procedure)
    scheduler.run()
    source.cancel(.failure(TestError("reason")))
    #expect(procedure.isCancelled)
    scheduler.run()
    #expect(procedure.outcome == .cancelled([TestError("reason")]))
    #expect(procedure.cancellationToken.reason == .failure(TestError("reason")))

    let early = TracedProcedure()
    early.cancel(when: source.token)
    #expect(early.isCancelled)

    let other = CancellationTokenSource()
    var finished: TracedProcedure? = TracedProcedure()
    weak let reference = finished
    finished?.cancel(when: other.token)
    queue.add(finished!)
    scheduler.run()
    finished = nil
    #expect(reference == nil)
    other.cancel()
  }

  @Test("K12: a token does not keep alive a procedure that was never added")
  func tokenDoesNotRetain() {
    let source = CancellationTokenSource()
    var procedure: TracedProcedure? = TracedProcedure()
    weak let reference = procedure
    procedure?.cancel(when: source.token)
    procedure = nil
    #expect(reference == nil)
    source.cancel()
  }

  @Test("K12: a long chain of procedures, each on the token of the one before, is cancelled")
  func chainOnTokens() {
    let source = CancellationTokenSource()
    let procedures = (0..<30_000).map { _ in Procedure() }
    var token = source.token
    for procedure in procedures {
      procedure.cancel(when: token)
      token = procedure.cancellationToken
    }
    source.cancel(.failure(TestError("all")))
    #expect(procedures.allSatisfy { $0.isCancelled && $0.cancellationToken.isCancelled })
    #expect(procedures.last?.errors as? [TestError] == [TestError("all")])
  }

  @Test("K12: procedures on a procedure's token are marked before that token's handlers run")
  func orderOnTokens() {
    let source = CancellationTokenSource()
    let (first, second, last) = (Procedure(), Procedure(), Procedure())
    first.cancel(when: source.token)
    second.cancel(when: source.token)
    last.cancel(when: first.cancellationToken)
    for (name, token) in [
      ("source", source.token), ("first", first.cancellationToken),
      ("second", second.cancellationToken), ("last", last.cancellationToken),
    ] {
      token.onCancel { [trace] in trace.note(name) }
    }
    source.cancel()
    #expect(trace.events == ["last", "first", "second", "source"])
  }

  @Test("K12: queue.add(_:cancelledBy:) adds, and cancels with the token")
  func addCancelledBy() {
    let clock = TestClock()
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(5), clock: clock.clock)
    let procedure = TracedProcedure(end: .whenToldOrCancelled)
    let queue = makeQueue()
    queue.add(procedure, cancelledBy: source.token)
    scheduler.run()
    clock.advance(by: .seconds(5))
    scheduler.run()
    #expect((procedure.errors.first as? ProcedureError)?.code == .deadlineExceeded)
    #expect(procedure.cancellationToken.reason == .deadlineExceeded)
  }

  @Test(
    "K12: all that hangs on a token reads cancelled before any handler of it is called, and none begins"
  )
  func beforeHandlers() {
    let source = CancellationTokenSource()
    let linked = CancellationTokenSource(linkedTo: source.token)
    let queue = makeQueue()
    queue.maxConcurrentProcedureCount = 1
    let first = TracedProcedure("first", trace: trace, end: .whenToldOrCancelled)
    let (second, child) = (
      TracedProcedure("second", trace: trace), TracedProcedure("child", trace: trace)
    )
    let group = GroupProcedure(child)
    let reads = Recorder<[Bool]>()
    source.token.onCancel { [scheduler] in
      reads.note([first, second, group, child].map(\.isCancelled))
      reads.note([first, second].map(\.cancellationToken.isCancelled))
      // The slot of the first is free now, and a worker looks.
      scheduler.run()
    }
    queue.add(first, cancelledBy: source.token)
    queue.add(second, cancelledBy: linked.token)
    queue.add(group, cancelledBy: source.token || linked.token)
    scheduler.run()
    #expect(first.isExecuting)
    source.cancel(.failure(TestError("stop")))
    #expect(reads.events == [[true, true, true, true], [true, true]])
    scheduler.run()
    #expect(!trace.events.contains("second execute") && !trace.events.contains("child execute"))
    for procedure in [first, second, group] {
      #expect(procedure.outcome == .cancelled([TestError("stop")]))
    }
  }

  @Test("K12: a procedure may be cancelled by a combination with its own token")
  func combinedWithItsOwn() {
    let source = CancellationTokenSource()
    let procedure = TracedProcedure(end: .whenToldOrCancelled)
    let either = source.token || procedure.cancellationToken
    let queue = makeQueue()
    queue.add(procedure, cancelledBy: either)
    scheduler.run()
    source.cancel()
    scheduler.run()
    #expect(procedure.isFinished && either.isCancelled && procedure.cancellationToken.isCancelled)

    let own = TracedProcedure()
    own.cancel(when: own.cancellationToken)
    own.cancel()
    #expect(own.cancellationToken.isCancelled)
  }
}
