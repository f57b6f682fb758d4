import Cancellation
import ProcedureTestSupport
import Testing

/// K11: `prefix(until:)`.
@Suite(.hangLimit) struct PrefixUntilCancelledTests {
  struct Failure: Error {}

  @Test("K11: elements pass unchanged while the token is pending, never ends, or ended uncancelled")
  func passes() async {
    let source = CancellationTokenSource()
    for token in [source.token, .never, CancellationTokenSource().token] {
      let stream = AsyncStream { continuation in
        for number in 0..<100 { continuation.yield(number) }
        continuation.finish()
      }
      var received: [Int] = []
      for await number in stream.prefix(until: token) { received.append(number) }
      #expect(received == Array(0..<100))
    }
  }

  @Test("K11: a cancel ends the sequence, and takes no further element from the base")
  func ends() async {
    let source = CancellationTokenSource()
    let pulled = Counter()
    let stream = AsyncStream { pulled.increment() }
    var iterator = stream.prefix(until: source.token).makeAsyncIterator()
    #expect(await iterator.next() == 1 && pulled.value == 1)
    source.cancel()
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
    #expect(pulled.value == 1)
  }

  @Test("K11: with a cancelled token no element is taken from the base")
  func bornCancelled() async {
    let stream = AsyncStream<Int> {
      Issue.record("asked")
      return nil
    }
    for await _ in stream.prefix(until: .cancelled) { Issue.record("an element came") }
  }

  @Test("K11: a suspended next() ends promptly, also on a base that ignores cancellation")
  func suspended() async {
    let (cooperative, _) = AsyncStream<Int>.makeStream()
    for deaf in [false, true] {
      let source = CancellationTokenSource()
      let (asked, release) = (Gate(), Gate())
      let token = source.token
      let task = Task {
        if deaf {
          var iterator = Deaf(asked: asked, release: release).prefix(until: token)
            .makeAsyncIterator()
          return await iterator.next()
        }
        asked.open()
        var iterator = cooperative.prefix(until: token).makeAsyncIterator()
        return await iterator.next()
      }
      await asked.wait()
      source.cancel()
      #expect(await task.value == nil)
      release.open()
    }
  }

  @Test("K11: the base's errors pass, with their type; the task's cancel reaches the base")
  func errors() async {
    let source = CancellationTokenSource()
    let stream = AsyncThrowingStream<Int, any Error> { continuation in
      continuation.yield(1)
      continuation.finish(throwing: Failure())
    }
    var received: [Int] = []
    await #expect(throws: Failure.self) {
      for try await number in stream.prefix(until: source.token) { received.append(number) }
    }
    #expect(received == [1])
    let (pending, _) = AsyncStream<Int>.makeStream()
    let token = source.token
    let task = Task {
      for await _ in pending.prefix(until: token) {}
      return Task.isCancelled
    }
    task.cancel()
    #expect(await task.value)
    #expect(!source.isCancelled)
  }

  @Test("K11: a sequence that is cancelled between elements has delivered a prefix, and ends")
  func race() async {
    for _ in 0..<Rounds.few / 4 {
      let source = CancellationTokenSource()
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      let token = source.token
      let task = Task {
        var received: [Int] = []
        for await number in stream.prefix(until: token) { received.append(number) }
        return received
      }
      await Task.yield()
      raceOnThreads(
        { for number in 0..<20 { continuation.yield(number) } }, { source.cancel() })
      let received = await task.value
      #expect(received == Array(0..<received.count))
    }
  }

  /// Suspends without listening to its task's cancel.
  private struct Deaf: AsyncSequence, AsyncIteratorProtocol {
    let asked: Gate
    let release: Gate

    func makeAsyncIterator() -> Self { self }

    func next() async -> Int? {
      asked.open()
      await release.wait()
      return 1
    }
  }
}

extension AsyncStream where Element == Int {
  /// A stream whose elements are made when they are asked for.
  fileprivate init(making make: @escaping @Sendable () -> Int?) {
    self.init(unfolding: { make() })
  }

  fileprivate init(_ make: @escaping @Sendable () -> Int) {
    self.init(making: { make() })
  }
}
