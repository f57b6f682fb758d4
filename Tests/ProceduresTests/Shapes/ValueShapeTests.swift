import Dispatch
import Procedures
import TestSupport
import Testing

/// Long and wide flows of values: no stack overflow, no quadratic time.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ValueShapeTests {
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(qualityOfService: .utility) }

  private typealias Step = TransformProcedure<Int, Int>

  private func chain(_ count: Int) -> [Step] {
    var steps: [Step] = []
    for _ in 0..<count {
      let step = Step { $0 + 1 }
      if let last = steps.last { step.injectResult(from: last) } else { step.input = 0 }
      steps.append(step)
    }
    return steps
  }

  @Test("R1: a value through a chain of 50,000")
  func longChain() async throws {
    let queue = makeQueue()
    let steps = chain(50_000)
    queue.add(steps.reversed())
    #expect(try await steps[49_999].value == 50_000)
  }

  @Test("R1: the failure of the first of 10,000 cancels all the others")
  func failure() async {
    let queue = makeQueue()
    let steps = chain(10_000)
    steps[0].input = nil
    queue.add(steps)
    await queue.waitUntilAllFinished()
    #expect(steps.dropFirst().allSatisfy { $0.isCancelled && $0.errors.count == 1 })
  }

  @Test("R2: a chain of 50,000 that was never added is released without recursion")
  func released() async {
    let count = await onThreadOfItsOwn { [self] in chain(50_000).count }
    #expect(count == 50_000)
  }

  @Test("R1: 50,000 sources gathered into one, in their order")
  func wide() async throws {
    let queue = makeQueue()
    let sources = (0..<50_000).map { number in ResultProcedure { number } }
    let gather = sources.gathered()
    queue.add(gather)
    queue.add(sources)
    #expect(try await gather.value == Array(0..<50_000) && gather.dependencies.isEmpty)
  }

  @Test("a batch of 20,000, and 20,000 asynchronous procedures")
  func batch() async throws {
    let queue = makeQueue()
    let batch = BatchProcedure { Step { $0 + 1 } }
    batch.input = Array(0..<20_000)
    #expect(try await queue.value(of: batch) == Array(1...20_000))
    let procedures = (0..<20_000).map { number in AsyncResultProcedure { number } }
    queue.add(procedures)
    await queue.waitUntilAllFinished()
    #expect(procedures.allSatisfy { $0.output != nil })
  }

  @Test("2,000 retries, cancelled while they attempt, all finish")
  func retries() async {
    let queue = makeQueue()
    let retries = (0..<2_000).map { _ in
      Retry(wait: .constant(.microseconds(100))) { BlockProcedure { throw TestError("e") } }
    }
    queue.add(retries)
    queue.cancelAll()
    await queue.waitUntilAllFinished()
    #expect(retries.allSatisfy { $0.isCancelled && $0.isFinished })
  }
}
