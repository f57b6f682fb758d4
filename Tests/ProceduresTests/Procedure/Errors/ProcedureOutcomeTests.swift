import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ProcedureOutcomeTests {
  private final class Object: Error, Sendable {}
  private struct Plain: Error {
    let code: Int
  }
  private struct Odd: Error, Equatable {
    let code: Int
    static func == (left: Self, right: Self) -> Bool { left.code % 2 == right.code % 2 }
  }

  @Test("an outcome says how a procedure ended, and get() throws the first error, or the cancel")
  func ends() throws {
    let outcomes: [ProcedureOutcome] = [
      .succeeded, .failed([TestError("e"), TestError("f")]), .cancelled([]),
      .cancelled([TestError("c")]),
    ]
    #expect(outcomes.map(\.isSuccess) == [true, false, false, false])
    #expect(outcomes.map(\.isFailure) == [false, true, false, false])
    #expect(outcomes.map(\.isCancelled) == [false, false, true, true])
    #expect(outcomes.map(\.errors.count) == [0, 2, 0, 1])
    try outcomes[0].get()
    #expect(throws: TestError("e")) { try outcomes[1].get() }
    #expect(throws: CancellationError.self) { try outcomes[2].get() }
    #expect(throws: TestError("c")) { try outcomes[3].get() }
  }

  @Test("E2: get() throws the cause, not the message of a dependency")
  func causes() {
    let failed = ProcedureError(
      .dependencyFailed, procedure: "a", underlyingErrors: [TestError("e")])
    let chain = ProcedureError(.dependencyCancelled, procedure: "b", underlyingErrors: [failed])
    let cancelled = ProcedureError(.dependencyCancelled, procedure: "a")
    let timedOut = ProcedureError(.timedOut, procedure: "a")
    let late = ProcedureError(.dependencyCancelled, procedure: "a", underlyingErrors: [timedOut])
    #expect(throws: TestError("e")) { try ProcedureOutcome.cancelled([failed]).get() }
    #expect(throws: TestError("e")) { try ProcedureOutcome.cancelled([chain]).get() }
    #expect(throws: CancellationError.self) { try ProcedureOutcome.failed([cancelled]).get() }
    #expect(throws: timedOut) { try ProcedureOutcome.cancelled([late]).get() }
    let inGroup = ProcedureError(
      .parentCancelled, procedure: "g", underlyingErrors: [timedOut])
    let behind = ProcedureError(
      .dependencyCancelled, procedure: "c", underlyingErrors: [inGroup])
    let sibling = ProcedureError(.siblingFailed, procedure: "s", underlyingErrors: [TestError("s")])
    let requested = ProcedureError(.parentCancelled, procedure: "g")
    #expect(throws: timedOut) { try ProcedureOutcome.cancelled([inGroup]).get() }
    #expect(throws: timedOut) { try ProcedureOutcome.cancelled([behind]).get() }
    #expect(throws: TestError("s")) { try ProcedureOutcome.cancelled([sibling]).get() }
    #expect(throws: requested) { try ProcedureOutcome.cancelled([requested]).get() }
  }

  @Test("E2: the value of a child of a group that times out is the time-out")
  func childOfAGroup() async throws {
    let child = AsyncResultProcedure<Int> {
      try await Task.sleep(for: .seconds(1000))
      return 1
    }
    let group = GroupProcedure(child)
    let clock = TestClock()
    let queue = ProcedureQueue(clock: clock.clock)
    group.timeout(after: .seconds(1))
    child.addDidExecuteBlockObserver { _ in clock.advance(by: .seconds(1)) }
    queue.add(group)
    await #expect { try await child.value } throws: { error in
      (error as? ProcedureError)?.code == .timedOut
    }
  }

  @Test("outcomes are equal that ended in the same way, with equal errors in the same order")
  func equality() {
    let (a, b) = (TestError("a"), TestError("b"))
    let outcomes: [ProcedureOutcome] = [
      .succeeded, .failed([a]), .failed([b]), .failed([a, b]), .failed([b, a]), .cancelled([]),
      .cancelled([a]),
    ]
    for (left, first) in outcomes.enumerated() {
      for (right, second) in outcomes.enumerated() {
        #expect((first == second) == (left == right), "\(first) \(second)")
      }
    }
    let object = Object()
    #expect(ProcedureOutcome.failed([object]) == .failed([object]))
    #expect(ProcedureOutcome.failed([object]) != .failed([Object()]))
    #expect(ProcedureOutcome.failed([Plain(code: 1)]) == .failed([Plain(code: 1)]))
    #expect(ProcedureOutcome.failed([Plain(code: 1)]) != .failed([Plain(code: 2)]))
    #expect(ProcedureOutcome.failed([Odd(code: 1)]) == .failed([Odd(code: 3)]))
    #expect(ProcedureOutcome.failed([Odd(code: 1)]) != .failed([Plain(code: 1)]))
    #expect(
      ProcedureOutcome.failed([ProcedureError(.timedOut, procedure: "a")])
        == .failed([ProcedureError(.timedOut, procedure: "a", underlyingErrors: [a])]))
  }
}
