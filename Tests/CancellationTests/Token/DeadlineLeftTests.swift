import Cancellation
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct DeadlineLeftTests {
  private let clock = TestClock()

  private func source(after seconds: Int) -> CancellationTokenSource {
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(seconds), clock: clock.clock)
    return source
  }

  @Test("K10: a token knows its deadline and the time that is left")
  func own() {
    let source = source(after: 30)
    let end = clock.now + .seconds(30)
    #expect(source.token.deadline == end)
    clock.advance(by: .seconds(10))
    #expect(source.token.deadline == end)
    #expect(source.token.timeLeft == .seconds(20))
    source.cancel(after: .seconds(5), clock: clock.clock)
    #expect(source.token.timeLeft == .seconds(5))
  }

  @Test("K10: a cancelled token has no time left; without a deadline there is no limit")
  func none() {
    let source = CancellationTokenSource()
    #expect(source.token.deadline == nil)
    #expect(source.token.timeLeft == nil)
    #expect(CancellationToken.never.timeLeft == nil)
    #expect(CancellationToken.cancelled.timeLeft == .zero)
    let timed = self.source(after: 3)
    clock.advance(by: .seconds(4))
    #expect(timed.isCancelled)
    #expect(timed.token.deadline == nil)
    #expect(timed.token.timeLeft == .zero)
    let gone = self.source(after: 3).token
    #expect(gone.isCompleted)
    #expect(gone.timeLeft == nil)
  }

  @Test("K10: the earliest deadline that can cancel it counts; of && the later, if both have one")
  func combined() {
    let (early, late, open) = (source(after: 10), source(after: 20), CancellationTokenSource())
    let child = CancellationTokenSource(linkedTo: late.token, early.token)
    #expect(child.token.timeLeft == .seconds(10))
    let grandchild = CancellationTokenSource(linkedTo: child.token)
    #expect(grandchild.token.timeLeft == .seconds(10))
    child.cancel(after: .seconds(7), clock: clock.clock)
    #expect(child.token.timeLeft == .seconds(7))
    #expect((early.token || late.token).timeLeft == .seconds(10))
    #expect((early.token && late.token).timeLeft == .seconds(20))
    #expect((open.token || late.token).timeLeft == .seconds(20))
    #expect((open.token && late.token).timeLeft == nil)
    #expect(((early.token && late.token) || open.token).timeLeft == .seconds(20))
    #expect(((early.token && late.token) || early.token).timeLeft == .seconds(10))
    #expect(early.token.map { true }.timeLeft == nil)
    #expect(early.token.flatMap { late.token }.timeLeft == nil)
    withExtendedLifetime((early, late, open, child, grandchild)) {}
  }

  @Test("K10: the deadline with the least time left counts, also on clocks that differ")
  func clocks() {
    let other = TestClock()
    other.advance(by: .seconds(1_000))
    let (left, right) = (source(after: 10), CancellationTokenSource())
    right.cancel(after: .seconds(5), clock: other.clock)
    let both = left.token || right.token
    #expect(both.timeLeft == .seconds(5))
    #expect(both.deadline == other.now + .seconds(5))
    withExtendedLifetime((left, right)) {}
  }

  @Test("K10: in a chain of any length the deadline at its head is found, on little stack")
  func depth() async {
    let head = source(after: 10)
    let timeLeft = await onSmallStack {
      var chain = [head]
      for _ in 0..<Rounds.size(100_000, otherwise: 20_000) {
        chain.append(CancellationTokenSource(linkedTo: chain.last!.token))
      }
      return chain.last?.token.timeLeft
    }
    #expect(timeLeft == .seconds(10))
  }

  @Test("K10: each of many diamonds above a token is visited once for its deadline")
  func diamonds() {
    let head = source(after: 10)
    let (linked, open) = (CancellationTokenSource(linkedTo: head.token), CancellationTokenSource())
    var token = head.token
    for _ in 0..<60 { token = (token || open.token) && (token || linked.token) }
    #expect(token.timeLeft == .seconds(10))
  }

  @Test("K10: a deadline may have a reason of its own, also one that is past")
  func reason() {
    struct Silent: Error, Equatable {}
    let source = CancellationTokenSource()
    source.cancel(after: .seconds(3), reason: .failure(Silent()), clock: clock.clock)
    let child = CancellationTokenSource(linkedTo: source.token)
    clock.advance(by: .seconds(3))
    #expect(source.token.reason == .failure(Silent()))
    #expect(child.token.reason == .failure(Silent()))
    let past = CancellationTokenSource()
    past.cancel(after: .zero, reason: .requested, clock: clock.clock)
    #expect(past.token.reason == .requested)
    let instant = CancellationTokenSource()
    instant.cancel(at: clock.now + .seconds(1), reason: .signal(2), clock: clock.clock)
    clock.advance(by: .seconds(1))
    #expect(instant.token.reason == .signal(2))
    #expect("\(instant.token)" == "CancellationToken(cancelled: signal 2)")
  }

  @Test("K10: a deadline that is disarmed does not cancel; it may be armed again")
  func disarming() {
    let source = source(after: 3)
    let parent = self.source(after: 100)
    let child = CancellationTokenSource(linkedTo: parent.token)
    #expect(!child.disarmDeadline())
    #expect(child.token.timeLeft == .seconds(100))
    #expect(source.disarmDeadline())
    #expect(!source.disarmDeadline())
    #expect(source.token.deadline == nil)
    clock.advance(by: .seconds(10))
    #expect(!source.token.isCompleted)
    source.cancel(after: .seconds(1), clock: clock.clock)
    clock.advance(by: .seconds(1))
    #expect(source.token.reason == .deadlineExceeded)
    #expect(!source.disarmDeadline())
    withExtendedLifetime(parent) {}
  }

  @Test("K10: disarming and passing at once: exactly one of the two happens")
  func disarmingRace() {
    for _ in 0..<200 {
      let source = CancellationTokenSource()
      source.cancel(after: .microseconds(50))
      let isDisarmed = source.disarmDeadline()
      if isDisarmed {
        #expect(!source.isCancelled)
      } else {
        #expect(source.isCancelled)
      }
    }
  }
}
