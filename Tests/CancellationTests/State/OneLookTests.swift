import Cancellation
import ProcedurePrimitives
import ProcedureTestSupport
import Testing

/// K9: what is made of a token while it ends is decided by one look at it.
@Suite(.hangLimit) struct OneLookTests {
  @Test("K9: combinations of a token that is cancelled meanwhile are cancelled")
  func whileCancelled() {
    for _ in 0..<Rounds.few * 4 {
      let (left, right) = (CancellationTokenSource(), CancellationTokenSource())
      let made = Slot<[CancellationToken]>()
      raceOnThreads(
        { left.cancel() },
        {
          made.value = [
            left.token || right.token, right.token || left.token,
            .any(of: [left.token, right.token]), .any(of: [right.token, left.token]),
            left.token && left.token, .all(of: [left.token, .cancelled]),
            left.token.map { true }, left.token.flatMap { .cancelled },
          ]
        })
      #expect(made.value!.map(\.isCancelled) == Array(repeating: true, count: 8))
    }
  }

  @Test("K9: combinations of a token that completes meanwhile are decided by the other")
  func whileCompleting() {
    for _ in 0..<Rounds.few * 4 {
      let left = Slot<CancellationTokenSource>()
      left.value = CancellationTokenSource()
      let (right, token) = (CancellationTokenSource(), left.value!.token)
      let made = Slot<[CancellationToken]>()
      raceOnThreads(
        { left.value = nil },
        {
          made.value = [
            token || right.token, .any(of: [right.token, token]),
            token && right.token, .all(of: [right.token, token]),
          ]
        })
      #expect(made.value!.map(\.isCompleted) == [false, false, true, true])
      right.cancel()
      #expect(made.value!.map(\.isCancelled) == [true, true, false, false])
    }
  }

  @Test("K9: a description shows one state")
  func description() {
    for _ in 0..<Rounds.few {
      let source = CancellationTokenSource()
      let text = Slot<String>()
      raceOnThreads({ source.cancel() }, { text.value = source.token.description })
      #expect(
        ["CancellationToken(pending)", "CancellationToken(cancelled: requested)"]
          .contains(text.value!))
    }
  }

  @Test("K11: a sequence ends with its token, even if its base never does")
  func prefix() async {
    struct Nap: AsyncSequence, AsyncIteratorProtocol {
      typealias Element = Int
      let end: Gate
      func makeAsyncIterator() -> Self { self }
      func next() async -> Int? {
        await end.wait()
        return nil
      }
    }
    for _ in 0..<Rounds.few {
      let (source, end) = (CancellationTokenSource(), Gate())
      let isOver = Gate()
      let task = Task {
        var count = 0
        for await _ in Nap(end: end).prefix(until: source.token) { count += 1 }
        isOver.open()
        return count
      }
      await race({ source.cancel() }, {})
      await isOver.wait()
      end.open()
      #expect(await task.value == 0)
    }
  }
}
