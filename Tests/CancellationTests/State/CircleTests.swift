import Cancellation
import ProcedureTestSupport
import Testing

/// K9: tokens that follow themselves.
@Suite(.hangLimit) struct CircleTests {
  @Test("K9: a token whose flatMap returns itself completes not cancelled, and is released")
  func itself() {
    let probe = Probe()
    let calls = Recorder<Bool>()
    do {
      let source = CancellationTokenSource()
      let own = Slot<CancellationToken>()
      let token = source.token.flatMap { [instance = probe.instance()] in
        _ = instance
        return own.value!
      }
      own.value = token
      token.onComplete { calls.note($0) }
      source.cancel()
      #expect(token.isCompleted && !token.isCancelled)
      own.value = nil
    }
    #expect(calls.events == [false] && probe.living == 0)
  }

  @Test(
    "K9: tokens that follow each other in a circle end uncancelled, directly or through a map",
    arguments: [2, 3, 50])
  func circle(count: Int) {
    let probe = Probe()
    do {
      let sources = (0..<count).map { _ in CancellationTokenSource() }
      let tokens = Slot<[CancellationToken]>()
      tokens.value = sources.indices.map { index in
        sources[index].token.flatMap { [instance = probe.instance()] in
          _ = instance
          let next = tokens.value![(index + 1) % count]
          return index == 1 ? next.map { true } : next
        }
      }
      for source in sources.dropLast() {
        source.cancel()
        #expect(tokens.value!.allSatisfy { !$0.isCompleted })
      }
      sources[count - 1].cancel()
      #expect(tokens.value!.allSatisfy { $0.isCompleted && !$0.isCancelled })
      tokens.value = nil
    }
    #expect(probe.living == 0)
  }

  @Test("K9: two tokens that begin to follow each other at the same moment end uncancelled")
  func race() {
    for _ in 0..<Rounds.few {
      let sources = [CancellationTokenSource(), CancellationTokenSource()]
      let tokens = Slot<[CancellationToken]>()
      tokens.value = (0..<2).map { index in
        sources[index].token.flatMap { tokens.value![1 - index] }
      }
      raceOnThreads({ sources[0].cancel() }, { sources[1].cancel() })
      #expect(tokens.value!.allSatisfy { $0.isCompleted && !$0.isCancelled })
      tokens.value = nil
    }
  }

  @Test("K9: a token that returns itself combined with another is cancelled with that")
  func combined() {
    let (source, other) = (CancellationTokenSource(), CancellationTokenSource())
    let own = Slot<CancellationToken>()
    let token = source.token.flatMap { own.value! || other.token }
    own.value = token
    source.cancel()
    #expect(!token.isCompleted)
    other.cancel()
    #expect(token.isCancelled)
  }

  @Test("K9: a token that returns itself and another ends only with an uncancelled end of that")
  func conjunction() {
    for isCancelled in [true, false] {
      let (source, own) = (CancellationTokenSource(), Slot<CancellationToken>())
      var other: CancellationTokenSource? = CancellationTokenSource()
      let token = source.token.flatMap { [second = other!.token] in own.value! && second }
      own.value = token
      source.cancel()
      #expect(!token.isCompleted)
      if isCancelled { other?.cancel() }
      other = nil
      #expect(!token.isCancelled && token.isCompleted == !isCancelled)
      own.value = nil
    }
  }
}
