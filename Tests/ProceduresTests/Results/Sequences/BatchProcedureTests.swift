import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct BatchProcedureTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(scheduler: scheduler, clock: clock.clock)
  }

  @Test("each element has a procedure of its own; outputs keep the order of the input")
  func positions() throws {
    let queue = makeQueue()
    let batch = BatchProcedure { TransformProcedure<Int, String> { "\($0)" } }
    batch.injectResult(from: ResultProcedure { Array((0..<100).reversed()) }.onto(queue))
    let empty = BatchProcedure { IdentityProcedure<Int>() }
    empty.input = []
    let after = IdentityProcedure<[String]>().injectResult(from: batch)
    queue.add(batch, empty, after)
    scheduler.run()
    #expect(after.input == (0..<100).reversed().map { "\($0)" } && batch.children.count == 100)
    #expect(try empty.output?.get() == [])
  }

  @Test("an element that fails leaves a batch without an output, and the others go on")
  func failure() {
    let done = Counter()
    let batch = BatchProcedure {
      TransformProcedure<Int, Int>(name: "step") { number in
        if number == 2 { throw TestError("two") }
        done.increment()
        return number
      }
    }
    batch.input = [1, 2, 3]
    makeQueue().add(batch)
    scheduler.run()
    #expect(batch.outcome?.deep == .failed([.child("step", TestError("two"))]))
    #expect(batch.output == nil && done.value == 2)
  }

  @Test("an element's procedure that has no name of its own has its place for one")
  func names() {
    let batch = BatchProcedure { Doubling() }
    let named = BatchProcedure { Doubling().named("double") }
    batch.input = [1, -1]
    named.input = [1]
    makeQueue().add(batch, named)
    scheduler.run()
    #expect(batch.children.map(\.name) == ["Doubling[0]", "Doubling[1]"])
    #expect(batch.outcome?.deep == .failed([.child("Doubling[1]", TestError("negative"))]))
    #expect(named.children.map(\.name) == ["double"])
  }

  @Test("without an input it is cancelled, and says so; cancelled, it cancels its children")
  func noInput() {
    let queue = makeQueue()
    let missing = BatchProcedure { IdentityProcedure<Int>() }
    let cancelled = BatchProcedure {
      AsyncTransformProcedure<Int, Int>(.callback) { number, finish in finish(.success(number)) }
    }
    cancelled.input = [1, 2]
    cancelled.maxConcurrentChildCount = 1
    cancelled.addDidExecuteBlockObserver { $0.cancel() }
    queue.add(missing, cancelled)
    scheduler.run()
    #expect((missing.errors.first as? ProcedureError)?.code == .requirementNotSatisfied)
    #expect(missing.isCancelled && cancelled.isCancelled && cancelled.isFinished)
    #expect(cancelled.output == nil)
  }

  @Test("F4: a batch is released, with its closure, when it has finished")
  func memory() {
    let released = Counter()
    weak var batch: BatchProcedure<IdentityProcedure<Int>>?
    do {
      let tracker = Tracker { released.increment() }
      let strong = BatchProcedure {
        withExtendedLifetime(tracker) {}
        return IdentityProcedure<Int>()
      }
      strong.input = [1, 2]
      batch = strong
      makeQueue().add(strong)
      scheduler.run()
    }
    #expect(batch == nil && released.value == 1)
  }
}

extension Procedure {
  fileprivate func onto(_ queue: ProcedureQueue) -> Self {
    queue.add(self)
    return self
  }
}

private final class Doubling: TransformProcedure<Int, Int>, @unchecked Sendable {
  init() {
    super.init { number in
      if number < 0 { throw TestError("negative") }
      return number * 2
    }
  }
}
