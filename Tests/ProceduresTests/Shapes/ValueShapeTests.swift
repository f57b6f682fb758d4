import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

/// Long and wide flows of values: no stack overflow, no quadratic time. Smaller by default; with
/// STRESS set, the full size.
@Suite(.serialized, .hangLimit) struct ValueShapeTests {
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(qualityOfService: .utility) }

  private static let length = Rounds.size(50_000, otherwise: 3_000)

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

  @Test("R1: a value goes through a long chain")
  func longChain() async throws {
    let queue = makeQueue()
    let steps = chain(Self.length)
    queue.add(steps.reversed())
    #expect(try await steps[Self.length - 1].value == Self.length)
  }

  @Test("R1: the failure of the first of many cancels all the others")
  func failure() async {
    let queue = makeQueue()
    let steps = chain(Rounds.size(10_000, otherwise: 2_500))
    steps[0].input = nil
    queue.add(steps)
    await queue.waitUntilAllFinished()
    #expect(steps.dropFirst().allSatisfy { $0.isCancelled && $0.errors.count == 1 })
  }

  @Test("R2: a long chain that was never added is released without recursion")
  func released() async {
    let count = await onSmallStack { [self] in chain(Self.length).count }
    #expect(count == Self.length)
  }

  @Test("R1: many sources are gathered in their order")
  func wide() async throws {
    let queue = makeQueue()
    let sources = (0..<Self.length).map { number in ResultProcedure { number } }
    let gather = sources.gathered()
    queue.add(gather)
    queue.add(sources)
    #expect(try await gather.value == Array(0..<Self.length) && gather.dependencies.isEmpty)
  }

  @Test("a large batch ends, and as many asynchronous procedures")
  func batch() async throws {
    let queue = makeQueue()
    let count = Rounds.size(20_000, otherwise: 1_000)
    let batch = BatchProcedure { Step { $0 + 1 } }
    batch.input = Array(0..<count)
    #expect(try await queue.value(of: batch) == Array(1...count))
    let procedures = (0..<count).map { number in AsyncResultProcedure { number } }
    queue.add(procedures)
    await queue.waitUntilAllFinished()
    #expect(procedures.allSatisfy { $0.output != nil })
  }

  @Test("2,000 retries, cancelled while they attempt, all finish")
  func retries() async {
    let queue = makeQueue()
    let retries = (0..<2_000).map { _ in
      RetryProcedure(wait: .constant(.microseconds(100))) {
        BlockProcedure { throw TestError("e") }
      }
    }
    queue.add(retries)
    queue.cancelAll()
    await queue.waitUntilAllFinished()
    #expect(retries.allSatisfy { $0.isCancelled && $0.isFinished })
  }
}
