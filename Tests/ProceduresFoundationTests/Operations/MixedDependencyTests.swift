import Foundation
import ProcedureTestSupport
import ProceduresFoundation
import Testing

@Suite(.hangLimit) struct MixedDependencyTests {
  private let procedures = ProcedureQueue()
  private let operations = OperationQueue()

  @Test("I1: a procedure waits for an operation, and takes no slot meanwhile")
  func procedureAfterOperation() async {
    let limited = ProcedureQueue(maxConcurrentProcedureCount: 1)
    let operation = ManualOperation()
    let procedure = BlockProcedure { #expect(operation.isFinished) }
    #expect(procedure.add(dependency: operation))
    limited.add(procedure)
    #expect(await limited.run(BlockProcedure {}).isSuccess)
    #expect(!procedure.isFinished)
    operations.addOperation(operation)
    await operation.started.wait()
    operation.end()
    #expect(await procedure.waitUntilFinished().isSuccess)
  }

  @Test("I1: a cancelled operation counts for a procedure that asks for success")
  func requirement() async {
    let operation = BlockOperation {}
    operation.cancel()
    let (anyway, demanding) = (TracedProcedure("a"), TracedProcedure("d"))
    anyway.add(dependency: operation)
    demanding.add(dependency: operation, requiring: .success)
    let judging = TracedProcedure("j")
    judging.add(dependency: operation)
    judging.add(condition: NoFailedDependencies(onCancelled: .fail))
    procedures.add(anyway, demanding, judging)
    operations.addOperation(operation)
    #expect(await anyway.waitUntilFinished().isSuccess)
    #expect(await demanding.waitUntilFinished().isCancelled)
    #expect((demanding.errors.first as? ProcedureError)?.code == .dependencyCancelled)
    #expect(await judging.waitUntilFinished().isCancelled)
  }

  @Test("I1: an operation waits for a procedure, until its last observer has returned")
  func operationAfterProcedure() async {
    let trace = Recorder<String>()
    let procedure = TracedProcedure("p")
    let operation = BlockOperation { trace.note("operation") }
    operation.addDependency(procedure)
    procedure.addDidFinishBlockObserver { _, _ in
      usleep(2000)
      trace.note("observer")
    }
    #expect(operation.dependencies.map(\.name) == ["p"] && !operation.isReady)
    let finished = finish(of: operation)
    operations.addOperation(operation)
    procedures.add(procedure)
    await finished.wait()
    #expect(trace.events == ["observer", "operation"])

    let late = BlockOperation {}
    late.addDependency(procedure)
    let lateFinished = finish(of: late)
    operations.addOperation(late)
    await lateFinished.wait()
  }

  @Test("I1: an operation of a cancelled procedure is cancelled")
  func cancelledProcedure() async {
    let procedure = TracedProcedure("p")
    procedure.cancel()
    let operation = BlockOperation {}
    operation.addDependency(procedure)
    let finished = finish(of: operation)
    procedures.add(procedure)
    operations.addOperation(operation)
    await finished.wait()
    #expect(!operation.isCancelled && operation.dependencies[0].isCancelled)
  }

  @Test("I1: dependencies are removed in both directions, and their dependents go on")
  func removal() async {
    let never = ManualOperation("never")
    let neverRun = TracedProcedure("never")
    let procedure = TracedProcedure("p")
    procedure.add(dependency: never)
    procedures.add(procedure)
    procedure.remove(dependency: never)
    #expect(await procedure.waitUntilFinished().isSuccess)
    #expect(procedure.dependencies.isEmpty)

    let operation = BlockOperation {}
    operation.addDependency(neverRun)
    let finished = finish(of: operation)
    operations.addOperation(operation)
    operation.removeDependency(neverRun)
    await finished.wait()
    #expect(!operation.isCancelled)
  }

  @Test("I1: a dependency that is added too late changes nothing, as with procedures")
  func late() async {
    let procedure = TracedProcedure("p")
    procedure.cancel()
    #expect(!procedure.add(dependency: ManualOperation()))
    #expect(procedure.dependencies.isEmpty)
  }

  @Test("I1: a waiter for an operation that goes away leaves no trace, and the operation runs on")
  func abandoned() async {
    weak var released: Procedure?
    let operation = ManualOperation()
    do {
      let procedure = TracedProcedure("p")
      procedure.add(dependency: operation)
      released = procedure
    }
    #expect(released == nil)
    // Thousands that come and go while it runs.
    operation.start()
    for _ in 0..<2000 {
      let procedure = TracedProcedure("p")
      procedure.add(dependency: operation)
      procedures.add(procedure)
      procedure.cancel()
      #expect(await procedure.waitUntilFinished().isCancelled)
    }
    operation.end()
    #expect(operation.isFinished)
  }

  @Test("I1: an operation that waits for a procedure may be released first")
  func operationGoesFirst() async {
    let procedure = TracedProcedure("p", end: .whenTold)
    weak var released: Operation?
    do {
      let operation = BlockOperation {}
      operation.addDependency(procedure)
      released = operation
    }
    let executing = execution(of: procedure)
    procedures.add(procedure)
    await executing.wait()
    procedure.finish()
    #expect(await procedure.waitUntilFinished().isSuccess)
    #expect(await eventually { released == nil })
  }

  @Test("I1: a chain through both kinds and back keeps its order")
  func chain() async {
    let trace = Recorder<Int>()
    let last = Gate()
    var previous: (procedure: Procedure?, operation: Operation?)
    for index in 0..<300 {
      let work: @Sendable () -> Void = {
        trace.note(index)
        if index == 299 { last.open() }
      }
      if index % 2 == 0 {
        let procedure = BlockProcedure(work)
        if let operation = previous.operation { procedure.add(dependency: operation) }
        procedures.add(procedure)
        previous = (procedure, nil)
      } else {
        let operation = BlockOperation(block: work)
        if let procedure = previous.procedure { operation.addDependency(procedure) }
        operations.addOperation(operation)
        previous = (nil, operation)
      }
    }
    await last.wait()
    #expect(trace.events == Array(0..<300))
  }
}
