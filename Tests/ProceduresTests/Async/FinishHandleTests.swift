import ProcedurePrimitives
import Procedures
import ProcedureTestSupport
import Testing

@Suite struct FinishHandleTests {
  private let scheduler = ManualScheduler()
  private var queue: ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  /// Keeps handles until the test uses them.
  private final class Kept<Output: Sendable>: Sendable {
    private let handle = Locked<FinishHandle<Output>?>(nil)
    func keep(_ finish: FinishHandle<Output>) { handle.withLock { $0 = finish } }
    func take() -> FinishHandle<Output>? { handle.withLock { $0.take() } }
  }

  @Test("the handle ends the procedure when it is called, in the closure or later")
  func called() {
    let kept = Kept<Int>()
    let atOnce = AsyncResultProcedure<Int> { finish in finish(.success(1)) }
    let later = AsyncResultProcedure<Int> { finish in kept.keep(finish) }
    let length = AsyncTransformProcedure<String, Int> { text, finish in
      finish(.success(text.count))
    }
    length.input = "four"
    let block = AsyncBlockProcedure { finish in finish() }
    let failing = AsyncProcedure { finish in finish(TestError("e")) }
    queue.add(atOnce, later, length, block, failing)
    scheduler.run()
    #expect(try! atOnce.output?.get() == 1 && length.output?.get() == 4)
    #expect("\(block.outcome!)" == "succeeded" && "\(failing.outcome!)" == "failed: e")
    #expect(later.isExecuting)
    let handle = kept.take()
    handle?(.success(2))
    handle?(.success(3))
    scheduler.run()
    #expect(try! later.output?.get() == 2 && "\(later.outcome!)" == "succeeded")
  }

  @Test("a handle that is dropped uncalled ends the procedure with an error that says so")
  func dropped() {
    let kept = Kept<Int>()
    let forgetful = AsyncResultProcedure<Int> { _ in () as Void }
    forgetful.name = "forgetful"
    let later = AsyncResultProcedure<Int> { finish in kept.keep(finish) }
    later.name = "later"
    queue.add(forgetful, later)
    scheduler.run()
    #expect(forgetful.isFinished && later.isExecuting)
    #expect(
      "\(forgetful.outcome!)" == "failed: 'forgetful' let go of its finish handle without calling "
        + "it; call it on every path.")
    _ = kept.take()
    scheduler.run()
    #expect(later.errors as? [ProcedureError] == [.init(.finishDropped, procedure: "later")])
  }

  @Test("after a cancel, a dropped handle and a CancellationError are the cancel")
  func cancelled() {
    let (first, second) = (Kept<Void>(), Kept<Void>())
    let dropped = AsyncProcedure { finish in first.keep(finish) }
    let thrown = AsyncProcedure { finish in second.keep(finish) }
    let queue = queue
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
    #expect("\(dropped.outcome!)" == "cancelled" && "\(thrown.outcome!)" == "cancelled")
  }

  @Test("what the closure throws ends the procedure")
  func throwing() {
    let procedure = AsyncProcedure { (finish: FinishHandle<Void>) throws in throw TestError("e") }
    queue.add(procedure)
    scheduler.run()
    #expect("\(procedure.outcome!)" == "failed: e")
  }
}
