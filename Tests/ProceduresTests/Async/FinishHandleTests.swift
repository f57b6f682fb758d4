import ProcedurePrimitives
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct FinishHandleTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("the handle ends the procedure when it is called, in the closure or later")
  func called() {
    let kept = Slot<FinishHandle<Int>>()
    let atOnce = AsyncResultProcedure<Int>(.callback) { finish in finish(.success(1)) }
    let later = AsyncResultProcedure<Int>(.callback) { finish in kept.value = finish }
    let length = AsyncTransformProcedure<String, Int>(.callback) { text, finish in
      finish(.success(text.count))
    }
    length.input = "four"
    let block = AsyncProcedure(.callback) { finish in finish() }
    let failing = AsyncProcedure(.callback) { finish in finish(TestError("e")) }
    makeQueue().add(atOnce, later, length, block, failing)
    scheduler.run()
    #expect(try! atOnce.output?.get() == 1 && length.output?.get() == 4)
    #expect(block.outcome == .succeeded)
    #expect(failing.outcome == .failed([TestError("e")]))
    #expect(later.isExecuting)
    let handle = kept.take()
    handle?(.success(2))
    handle?(.success(3))
    scheduler.run()
    #expect(try! later.output?.get() == 2)
    #expect(later.outcome == .succeeded)
  }

  @Test("a handle that is dropped uncalled ends the procedure with an error that says so")
  func dropped() {
    let kept = Slot<FinishHandle<Int>>()
    let forgetful = AsyncResultProcedure<Int>(.callback) { _ in () as Void }
    forgetful.name = "forgetful"
    let later = AsyncResultProcedure<Int>(.callback) { finish in kept.value = finish }
    later.name = "later"
    makeQueue().add(forgetful, later)
    scheduler.run()
    #expect(forgetful.isFinished && later.isExecuting)
    #expect(
      "\(forgetful.outcome!)" == "failed: 'forgetful' released its finish handle without calling "
        + "it; call it on every path.")
    _ = kept.take()
    scheduler.run()
    #expect(later.errors as? [ProcedureError] == [.init(.finishDropped, procedure: "later")])
  }

  @Test("after a cancel, a dropped handle and a CancellationError are the cancel")
  func cancelled() {
    let (first, second) = (Slot<FinishHandle<Void>>(), Slot<FinishHandle<Void>>())
    let dropped = AsyncProcedure(.callback) { finish in first.value = finish }
    let thrown = AsyncProcedure(.callback) { finish in second.value = finish }
    let queue = makeQueue()
    queue.add(dropped, thrown)
    scheduler.run()
    queue.cancelAll()
    scheduler.run()
    #expect(dropped.isExecuting && thrown.isExecuting)
    let (one, two) = (first.take(), second.take())
    #expect(one!.isCancelled && two!.cancellationToken.isCancelled)
    two!(CancellationError())
    withExtendedLifetime(one) {}
    _ = consume one
    scheduler.run()
    #expect(dropped.outcome == .cancelled([]))
    #expect(thrown.outcome == .cancelled([]))
  }

  @Test("an error that the closure throws ends the procedure")
  func throwing() {
    let procedure = AsyncProcedure(.callback) { (finish: FinishHandle<Void>) throws in
      throw TestError("e")
    }
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.outcome == .failed([TestError("e")]))
  }
}
