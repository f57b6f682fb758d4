import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ResultProcedureTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  @Test("a result procedure has what its closure returns, or fails with what it throws")
  func result() {
    let fine = ResultProcedure { 1 }
    let failing = ResultProcedure<Int> { throw TestError("e") }
    #expect(fine.output == nil)
    makeQueue().add(fine, failing)
    scheduler.run()
    #expect(try! fine.output?.get() == 1)
    #expect(fine.outcome == .succeeded)
    #expect(failing.outcome == .failed([TestError("e")]))
    #expect(throws: TestError("e")) { try failing.output?.get() }
  }

  @Test("a transform procedure makes its output of its input, and fails without one")
  func transform() {
    let length = TransformProcedure<String, Int> { $0.count }
    length.input = "four"
    let empty = TransformProcedure<String, Int> { $0.count }
    makeQueue().add(length, empty)
    scheduler.run()
    #expect(try! length.output?.get() == 4)
    #expect((empty.errors.first as? ProcedureError)?.code == .requirementNotSatisfied)
    #expect(!empty.isCancelled)
  }

  @Test("closures may look at isCancelled; CancellationError after a cancel is the cancel")
  func cancelled() {
    let result = ResultProcedure<Int> { procedure in
      procedure.cancel()
      #expect(procedure.isCancelled)
      throw CancellationError()
    }
    let transform = TransformProcedure<Int, Int> { procedure, number in
      procedure.cancel()
      return number
    }
    transform.input = 3
    makeQueue().add(result, transform)
    scheduler.run()
    #expect(result.outcome == .cancelled([]))
    #expect(result.output == nil)
    #expect(transform.outcome == .cancelled([]))
    #expect(try! transform.output?.get() == 3)
  }

  @Test("F4: closures are released when the procedure has finished, also if they never ran")
  func letsGo() {
    let released = Counter()
    func track() -> Tracker { Tracker { released.increment() } }
    func make() -> [Procedure] {
      let (first, second) = (track(), track())
      return [
        ResultProcedure { withExtendedLifetime(first) {} },
        TransformProcedure<Int, Void> { _ in withExtendedLifetime(second) {} },
      ]
    }
    let (ran, cancelled) = (make(), make())
    makeQueue().add(ran + cancelled)
    for procedure in cancelled { procedure.cancel() }
    scheduler.run()
    #expect(released.value == 4)
    withExtendedLifetime((ran, cancelled)) {}
  }
}
