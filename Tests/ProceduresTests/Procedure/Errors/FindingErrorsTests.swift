import Cancellation
import ProcedureTestSupport
import Procedures
import Testing

/// Looking for an error behind those that report it.
@Suite(.hangLimit) struct FindingErrorsTests {
  private struct Declined: Error, Equatable { let reason: String }

  @Test("an error of a child is found among the errors of the groups around it")
  func inGroups() async {
    let failing = BlockProcedure { throw Declined(reason: "no funds") }
    let retry = RetryProcedure(max: 2, wait: .immediate) {
      BlockProcedure { throw Declined(reason: "again") }
    }
    let group = GroupProcedure(GroupProcedure(failing), retry)
    let errors = await ProcedureQueue().run(group).errors
    #expect(!errors.contains { $0 is Declined })
    #expect(errors.first(of: Declined.self) != nil)
    #expect(errors.first(of: CancellationError.self) == nil)
  }

  @Test("the first in the order of the errors is found, also behind a dependency that failed")
  func inOrder() async {
    let queue = ProcedureQueue()
    let failing = BlockProcedure { throw Declined(reason: "first") }
    let dependent = BlockProcedure {}
    dependent.add(dependency: failing, requiring: .success)
    queue.add(failing, dependent)
    let errors = await dependent.waitUntilFinished().errors + [Declined(reason: "second")]
    #expect(errors.first(of: Declined.self) == Declined(reason: "first"))
    #expect([any Error]().first(of: Declined.self) == nil)
  }

  @Test("equal reasons of a cancel are those with equal errors")
  func reasons() {
    #expect(CancellationReason.failure(Declined(reason: "a")) == .failure(Declined(reason: "a")))
    #expect(CancellationReason.failure(Declined(reason: "a")) != .failure(Declined(reason: "b")))
    #expect(CancellationReason.signal(2) != .signal(15))
    #expect(CancellationReason.requested != .deadlineExceeded)
  }

  @Test("a wait strategy is a sequence of its intervals")
  func intervals() {
    let strategy = WaitStrategy.incrementing(initial: .zero, increment: .seconds(3))
    #expect(Array(strategy.prefix(3)) == [.zero, .seconds(3), .seconds(6)])
  }
}
