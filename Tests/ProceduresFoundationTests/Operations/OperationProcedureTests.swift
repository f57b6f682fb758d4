import Foundation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

@Suite(.hangLimit) struct OperationProcedureTests {
  private let queue = ProcedureQueue(name: "q")

  @Test("I1: an operation runs on the procedure's worker, and the procedure finishes after it")
  func runs() async {
    let trace = Recorder<String>()
    let dispatchQueue = DispatchQueue(label: "here")
    let queue = ProcedureQueue(underlyingQueue: dispatchQueue)
    let operation = BlockOperation {
      dispatchPrecondition(condition: .onQueue(dispatchQueue))
      trace.note("main")
    }
    operation.name = "resize"
    operation.queuePriority = .high
    let done = Gate()
    operation.completionBlock = { done.open() }
    let procedure = OperationProcedure(operation)
    procedure.addDidFinishBlockObserver { _, _ in
      trace.note("finished, operation \(operation.isFinished)")
    }
    #expect(procedure.name == "resize" && procedure.priority == .high)
    queue.add(procedure)
    #expect(await procedure.waitUntilFinished().isSuccess)
    #expect(trace.events == ["main", "finished, operation true"])
    await done.wait()  // the completion block is the user's
  }

  @Test("I1: a procedure waits for an asynchronous operation, and takes no thread meanwhile")
  func asynchronous() async {
    let operations = (0..<200).map { ManualOperation("\($0)") }
    let procedures = queue.add(operations)
    for operation in operations { await operation.started.wait() }
    #expect(procedures.allSatisfy { $0.isExecuting })
    for operation in operations { operation.end() }
    for procedure in procedures { #expect(await procedure.waitUntilFinished().isSuccess) }
  }

  @Test("I1: a cancel of the procedure is the operation's before it returns, in each of its states")
  func cancelOfProcedure() async {
    let executing = ManualOperation()
    let procedure = queue.add(executing)
    await executing.started.wait()
    procedure.cancel()
    #expect(executing.isCancelled)
    #expect(await procedure.waitUntilFinished().isCancelled)

    queue.isSuspended = true
    let pending = BlockOperation { Issue.record("a cancelled operation has run") }
    let finished = finish(of: pending)
    let waiting = queue.add(pending)
    waiting.cancel()
    #expect(pending.isCancelled)
    #expect(await waiting.waitUntilFinished().isCancelled)
    await finished.wait()  // others may depend on it

    let early = ManualOperation()
    OperationProcedure(early).cancel()
    #expect(early.isCancelled)
  }

  @Test("I1: an operation that polls is cancelled while its main is on the stack")
  func cancelWhilePolling() async {
    final class Polling: Operation, @unchecked Sendable {
      let started = Gate()
      override func main() {
        started.open()
        while !isCancelled { usleep(500) }
      }
    }
    let operation = Polling()
    let procedure = queue.add(operation)
    await operation.started.wait()
    procedure.cancel()
    #expect(await procedure.waitUntilFinished().isCancelled)
  }

  @Test("I1: an operation that finishes cancelled makes the procedure cancelled, whenever it was")
  func cancelOfOperation() async {
    let before = BlockOperation {}
    before.cancel()
    #expect(await queue.add(before).waitUntilFinished().isCancelled)

    let executing = ManualOperation()
    let procedure = queue.add(executing)
    await executing.started.wait()
    executing.cancel()
    #expect(await procedure.waitUntilFinished().isCancelled)

    let pending = BlockOperation { Issue.record("a cancelled operation has run") }
    queue.isSuspended = true
    let waiting = queue.add(pending)
    pending.cancel()
    queue.isSuspended = false
    #expect(await waiting.waitUntilFinished().isCancelled)
  }

  @Test("I1: a wrapped operation waits for what it depended on without a slot")
  func dependencies() async {
    let trace = Recorder<String>()
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    let (first, second) = (
      BlockOperation { trace.note("first") }, BlockOperation { trace.note("second") }
    )
    second.addDependency(first)
    let waiting = queue.add(second)
    let other = queue.add(first)
    #expect(await waiting.waitUntilFinished().isSuccess)
    #expect(await other.waitUntilFinished().isSuccess)
    #expect(trace.events == ["first", "second"])
  }

  @Test("I1: a dependency that an operation gets after it was wrapped is waited for too")
  func lateDependency() async {
    let first = ManualOperation("first")
    let second = BlockOperation { #expect(first.isFinished) }
    let procedure = OperationProcedure(second)
    second.addDependency(first)
    queue.add(procedure)
    queue.add(first)
    await first.started.wait()
    first.end()
    #expect(await procedure.waitUntilFinished().isSuccess)
  }

  @Test("I1: a pending wrapped operation that is cancelled finishes whatever it waits for")
  func cancelOfWaiting() async {
    let never = ManualOperation("never")
    let operation = BlockOperation { Issue.record("it has run") }
    operation.addDependency(never)
    let finished = finish(of: operation)
    let procedure = queue.add(operation)
    procedure.cancel()
    #expect(await procedure.waitUntilFinished().isCancelled)
    await finished.wait()
  }

  @Test("I1: an operation that was started elsewhere, or has finished, is not started again")
  func startedElsewhere() async {
    let executing = ManualOperation()
    executing.start()
    let procedure = OperationProcedure(executing)
    queue.add(procedure)
    executing.end()
    #expect(await procedure.waitUntilFinished().isSuccess)
    #expect(await queue.add(executing).waitUntilFinished().isSuccess)
  }

  @Test("I1: operations are children of groups, by name or in a builder, and cancelled with them")
  func groups() async {
    let trace = Recorder<String>()
    let first = BlockOperation { trace.note("first") }
    let second = BlockOperation { trace.note("second") }
    second.addDependency(first)
    let group = GroupProcedure {
      second
      first
      BlockProcedure { trace.note("third") }
    }
    #expect(await queue.run(group).isSuccess)
    #expect(trace.events.sorted() == ["first", "second", "third"])
    #expect(trace.events.firstIndex(of: "first")! < trace.events.firstIndex(of: "second")!)

    let endless = ManualOperation()
    let cancelled = GroupProcedure()
    cancelled.add(child: endless)
    queue.add(cancelled)
    await endless.started.wait()
    cancelled.cancel()
    #expect(endless.isCancelled)
    #expect(await cancelled.waitUntilFinished().isCancelled)
  }

  @Test("I1: a condition decides about an operation; one that is not satisfied cancels it")
  func conditions() async {
    let operation = BlockOperation { Issue.record("it has run") }
    let procedure = OperationProcedure(operation)
    procedure.add(condition: BlockCondition { _ in false })
    queue.add(procedure)
    #expect(await procedure.waitUntilFinished().isCancelled)
    #expect(operation.isCancelled)
  }

  @Test("I1: a token cancels an operation, and a task that runs one waits for it and cancels it")
  func tokensAndTasks() async {
    let source = CancellationTokenSource()
    let first = ManualOperation()
    let procedure = queue.add(first, cancelledBy: source.token)
    await first.started.wait()
    source.cancel()
    #expect(first.isCancelled)
    #expect(await procedure.waitUntilFinished().isCancelled)
    #expect(await queue.run(BlockOperation {}).isSuccess)
    let second = ManualOperation()
    let task = Task { await queue.run(second) }
    await second.started.wait()
    task.cancel()
    #expect(await task.value.isCancelled && second.isFinished)
  }

  @Test("I1: nothing of an operation is kept when its procedure is released")
  func memory() async {
    weak var released: ManualOperation?
    weak var procedure: OperationProcedure?
    do {
      let operation = ManualOperation()
      released = operation
      let running = queue.add(operation)
      procedure = running
      await operation.started.wait()
      operation.end()
      _ = await running.waitUntilFinished()
    }
    #expect(await eventually { released == nil && procedure == nil })
  }
}
