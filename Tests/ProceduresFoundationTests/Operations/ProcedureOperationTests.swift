import Foundation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

@Suite(.hangLimit) struct ProcedureOperationTests {
  private let queue = OperationQueue()

  @Test(
    "I1: an operation executes nothing before start(), and finishes once, after the observers")
  func runs() async {
    let trace = Recorder<String>()
    let procedure = TracedProcedure("p", trace: trace)
    let operation = ProcedureOperation(procedure)
    let finished = Gate()
    operation.completionBlock = {
      trace.note("completion")
      finished.open()
    }
    procedure.addDidFinishBlockObserver { _, _ in
      trace.note("observer, finished: \(operation.isFinished)")
    }
    #expect(operation.isAsynchronous && operation.name == "p")
    #expect(!procedure.isEnqueued && !operation.isExecuting && !operation.isFinished)
    operation.start()
    operation.start()
    operation.waitUntilDone()
    #expect(operation.isFinished && !operation.isExecuting)
    await finished.wait()
    #expect(
      trace.events == [
        "p execute", "p procedureWillFinish", "p procedureDidFinish", "observer, finished: false",
        "completion",
      ])
  }

  @Test("I1: the states that KVO reports are the states at that time")
  func notifications() async {
    let procedure = TracedProcedure("p", end: .whenTold)
    let operation = ProcedureOperation(procedure)
    let executing = execution(of: procedure)
    queue.addOperation(operation)
    await executing.wait()
    #expect(operation.isExecuting && !operation.isFinished)
    #expect(queue.operationCount == 1)
    procedure.finish()
    queue.waitUntilDone()
    #expect(!operation.isExecuting && operation.isFinished)
    #expect(queue.operationCount == 0)
  }

  @Test("I1: the operation queue's limit and order hold for procedures")
  func limit() async {
    queue.maxConcurrentOperationCount = 1
    let running = Counter()
    let trace = Recorder<Int>()
    let all = (0..<50).map { index in
      queue.add(
        AsyncProcedure {
          running.increment()
          await Task.yield()
          trace.note(index)
          running.decrement()
        })
    }
    queue.waitUntilDone()
    #expect(all.allSatisfy { $0.procedure.outcome?.isSuccess == true })
    #expect(running.highest == 1 && trace.events == Array(0..<50))
  }

  @Test("I1: a cancel of either is the other's before it returns")
  func cancels() async {
    for cancelsProcedure in [true, false] {
      let executing = TracedProcedure("p", end: .whenToldOrCancelled)
      let operation = ProcedureOperation(executing)
      let begun = execution(of: executing)
      queue.addOperation(operation)
      await begun.wait()
      if cancelsProcedure {
        executing.cancel(withError: TestError("e"))
      } else {
        operation.cancel()
      }
      #expect(executing.isCancelled && operation.isCancelled)
      queue.waitUntilDone()
      #expect(executing.outcome?.isCancelled == true && operation.isFinished)

      let suspended = OperationQueue.suspended
      let pending = TracedProcedure("pending")
      let waiting = suspended.add(pending)
      if cancelsProcedure { pending.cancel() } else { waiting.cancel() }
      #expect(pending.isCancelled && waiting.isCancelled)
      suspended.isSuspended = false
      suspended.waitUntilDone()
      #expect(waiting.isFinished && pending.isFinished)
      #expect(!pending.trace.events.contains("pending execute"))
    }
  }

  @Test("I1: the procedure reads cancelled before its operation does, which its queue starts then")
  func cancelOrder() {
    let procedure = TracedProcedure("p")
    let operations = Recorder<ProcedureOperation>()
    let seen = Recorder<[Bool]>()
    // Before that of the operation, so that it is called first.
    procedure.cancellationToken.onCancel {
      seen.note([procedure.isCancelled, operations.events[0].isCancelled])
    }
    let operation = ProcedureOperation(procedure)
    operations.note(operation)
    operation.cancel()
    #expect(seen.events == [[true, false]] && operation.isCancelled)
  }

  @Test("I1: a cancel after the end changes nothing")
  func lateCancel() {
    let operation = queue.add(BlockProcedure {})
    queue.waitUntilDone()
    operation.cancel()
    #expect(!operation.isCancelled && operation.procedure.outcome?.isSuccess == true)
  }

  @Test(
    "I1: an operation waits for its procedure's dependencies without a place on the operation queue"
  )
  func dependencies() {
    queue.maxConcurrentOperationCount = 1
    let trace = Recorder<String>()
    let first = BlockProcedure { trace.note("first") }
    let second = BlockProcedure { trace.note("second") }
    second.add(dependency: first)
    queue.add(second)
    queue.add(first)
    queue.waitUntilDone()
    #expect(trace.events == ["first", "second"])
  }

  @Test("I1: a procedure that is on a queue already is waited for, not added again")
  func onQueueAlready() {
    let procedures = ProcedureQueue()
    procedures.isSuspended = true
    let procedure = TracedProcedure("p")
    procedures.add(procedure)
    let operation = queue.add(procedure)
    #expect(!operation.isFinished)
    procedures.isSuspended = false
    queue.waitUntilDone()
    #expect(operation.isFinished)
  }

  @Test("I1: on an operation queue with an underlying queue the procedure executes there")
  func underlyingQueue() {
    let dispatchQueue = DispatchQueue(label: "here")
    unsafe queue.underlyingQueue = dispatchQueue
    let operation = queue.add(
      BlockProcedure { dispatchPrecondition(condition: .onQueue(dispatchQueue)) })
    queue.waitUntilDone()
    #expect(operation.procedure.outcome?.isSuccess == true)
  }

  @Test(
    "I1: an operation that is released before it ran leaves nothing behind, also where it depends on others"
  )
  func released() async {
    weak var released: ProcedureOperation?
    weak var procedure: Procedure?
    let dependency = ManualOperation("dependency")
    let first = TracedProcedure("first")
    do {
      let dependent = TracedProcedure("p")
      dependent.add(dependency: first)
      let operation = ProcedureOperation(dependent)
      operation.addDependency(dependency)
      (released, procedure) = (operation, dependent)
    }
    #expect(released == nil && procedure == nil)
    dependency.start()
    dependency.end()
    #expect(await ProcedureQueue().run(first).isSuccess)
  }

  @Test(
    "I1: an operation's procedure runs on no operation queue, and OperationQueue.current is nil there"
  )
  func currentQueue() {
    let queue = OperationQueue()
    let isNil = Recorder<Bool>()
    queue.addOperations(
      [
        ProcedureOperation(BlockProcedure { isNil.note(OperationQueue.current == nil) }),
        BlockOperation { isNil.note(OperationQueue.current == nil) },
      ], waitUntilFinished: true)
    #expect(isNil.events.sorted { !$0 && $1 } == [false, true])
  }
}

extension Operation {
  /// From an `async` test, which has a thread of its own to block.
  func waitUntilDone() { waitUntilFinished() }
}

extension OperationQueue {
  func waitUntilDone() { waitUntilAllOperationsAreFinished() }
}
