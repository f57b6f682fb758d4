import Cancellation
import ProcedureTestSupport
import Testing

/// What leads from one token to the next thousands of times, on a stack of half a megabyte.
@Suite(.hangLimit) struct DepthTests {
  static let depth = Rounds.size(100_000, otherwise: 3_000)

  @Test(
    "K6: a fold of flatMaps is cancelled, from either end, and released", arguments: [true, false])
  func fold(fromTheFirst: Bool) async {
    let isCancelled = await onSmallStack {
      let sources = (0..<Self.depth).map { _ in CancellationTokenSource() }
      let all = sources.reduce(CancellationToken.cancelled) { all, source in
        source.token.flatMap { all }
      }
      let calls = Counter()
      all.onCancel { calls.increment() }
      if fromTheFirst {
        for source in sources { source.cancel() }
      } else {
        for source in sources.reversed() { source.cancel() }
      }
      return all.isCancelled && calls.value == 1
    }
    #expect(isCancelled)
  }

  @Test("K6: a fold of flatMaps from the right is cancelled, and released")
  func foldOfResults() async {
    let isCancelled = await onSmallStack {
      let sources = (0..<Self.depth).map { _ in CancellationTokenSource() }
      let last = sources.dropFirst().reduce(sources[0].token) { last, source in
        last.flatMap { source.token }
      }
      for source in sources { source.cancel() }
      return last.isCancelled
    }
    #expect(isCancelled)
  }

  @Test("K8: a fold of flatMaps is released without a cancel, its sources before or after it")
  func foldReleased() async {
    for isLast in [true, false] {
      let released = Counter()
      await onSmallStack {
        var sources = (0..<Self.depth).map { _ in CancellationTokenSource() }
        let tracker = Tracker { released.increment() }
        for end in [0, Self.depth - 1] { sources[end].token.onCancel { _ = tracker } }
        var all = sources.reduce(CancellationToken.cancelled) { all, source in
          source.token.flatMap { all }
        }
        if isLast { all = .never }
        sources = []
        all = .never
        _ = all
      }
      #expect(released.value == 1)
    }
  }

  @Test("K8: sources that are captured in each other's handlers are released, cancelled or not")
  func captured() async {
    for isCancelled in [true, false] {
      let living = await onSmallStack { () -> Int in
        let probe = Probe()
        do {
          var source = CancellationTokenSource()
          for _ in 0..<Self.depth {
            let next = CancellationTokenSource()
            next.token.onCancel { [source, instance = probe.instance()] in
              _ = (source, instance)
            }
            source = next
          }
          if isCancelled { source.cancel() }
        }
        return probe.living
      }
      #expect(living == 0)
    }
  }

  @Test(
    "K4: sources released in a chain call their onComplete handlers on the thread that released the first"
  )
  func capturedCompletions() async {
    let calls = await onSmallStack { () -> Int in
      let calls = Counter()
      var source = CancellationTokenSource()
      for _ in 0..<Self.depth {
        let next = CancellationTokenSource()
        next.token.onComplete { [source] _ in
          _ = source
          calls.increment()
        }
        source = next
      }
      _ = consume source
      return calls.value
    }
    #expect(calls == Self.depth)
  }

  @Test("K3: handlers that cancel the next source nest, as deep as the documentation says")
  func nestedCancels() async {
    // Each level is a call of the user's in a call of ours: see the guide for what one takes.
    let depth = 200
    let order = await onSmallStack { () -> [Int] in
      let sources = (0...depth).map { _ in CancellationTokenSource() }
      let order = Recorder<Int>()
      for index in 0..<depth {
        sources[index].token.onCancel {
          sources[index + 1].cancel()
          order.note(index)
        }
      }
      sources[0].cancel()
      return order.events
    }
    // All handlers of the inner have returned when its cancel does.
    #expect(order == Array((0..<depth).reversed()))
  }
}
