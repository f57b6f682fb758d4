import ProcedureTestSupport
import ProceduresTesting
import Testing

@testable import Procedures

@Suite(.hangLimit) struct ProcedureFeedTests {
  /// Procedures that are made when they are asked for, and how many there are that have not
  /// finished.
  private struct Source: Sendable {
    let made = Counter()
    let unfinished = Counter()

    func make() -> Procedure {
      made.increment()
      unfinished.increment()
      let procedure = BlockProcedure {}
      procedure.addDidFinishBlockObserver { [unfinished] _, _ in unfinished.decrement() }
      return procedure
    }
  }

  private struct SourceFailed: Error {}

  @Test("Q2: a feed makes no more of a sequence than the given number at a time, and all run")
  func sequence() async {
    let queue = ProcedureQueue()
    let source = Source()
    await queue.add((0..<2_000).lazy.map { _ in source.make() }, atMost: 7)
    await queue.waitUntilAllFinished()
    #expect(source.made.value == 2_000 && source.unfinished.value == 0)
    #expect(source.unfinished.highest <= 7)
  }

  @Test("Q2: the error of an asynchronous sequence is thrown, and what was added goes on")
  func asynchronousSequence() async {
    let queue = ProcedureQueue()
    let source = Source()
    let (numbers, input) = AsyncThrowingStream.makeStream(of: Int.self)
    for number in 0..<500 { input.yield(number) }
    input.finish(throwing: SourceFailed())
    await #expect(throws: SourceFailed.self) {
      try await queue.add(numbers.map { _ in source.make() }, atMost: 3)
    }
    await queue.waitUntilAllFinished()
    #expect(source.made.value == 500 && source.unfinished.value == 0)
    #expect(source.unfinished.highest <= 3)
  }

  @Test("Q2: callers of a feed without room wait in their order, also for a suspended queue")
  func waits() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let feed = ProcedureFeed(into: queue, atMost: 2)
    let order = Recorder<Int>()
    #expect(feed.addIfRoom(BlockProcedure { order.note(0) }))
    #expect(await feed.add(BlockProcedure { order.note(1) }))
    #expect(feed.count == 2 && queue.count == 2)
    let (begun, input) = AsyncStream.makeStream(of: Void.self)
    var turns = begun.makeAsyncIterator()
    queue.maxConcurrentProcedureCount = 1
    var waits: [Task<Bool, Never>] = []
    for number in 2..<5 {
      waits.append(
        Task {
          input.yield()
          return await feed.add(BlockProcedure { order.note(number) })
        })
      _ = await turns.next()
      // It has begun, and comes to the wait before the next one does.
      for _ in 0..<100 { await Task.yield() }
    }
    #expect(queue.count == 2)
    queue.isSuspended = false
    for wait in waits { #expect(await wait.value) }
    await queue.waitUntilAllFinished()
    #expect(order.events.count == 5 && feed.count == 0)
  }

  @Test("Q2, F3: a wait for room ends with its task; the procedure is cancelled and finishes")
  func cancelled() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    let feed = ProcedureFeed(into: queue, atMost: 1)
    let first = TracedProcedure("first", end: .whenTold)
    #expect(await feed.add(first))
    let second = TracedProcedure("second")
    let wait = Task { await feed.add(second) }
    for _ in 0..<100 { await Task.yield() }
    wait.cancel()
    #expect(await wait.value == false)
    #expect(await second.waitUntilFinished() == .cancelled([]))
    #expect(!second.trace.events.contains("second execute") && feed.count == 1)
    // In a task that is cancelled there is no wait, and no room is taken.
    let third = TracedProcedure("third")
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      return await feed.add(third)
    }
    late.cancel()
    #expect(await late.value == false)
    #expect(await third.waitUntilFinished() == .cancelled([]))
    first.finish()
    await queue.waitUntilAllFinished()
    #expect(feed.count == 0)
  }

  @Test(
    "Q2: a cancel of its task stops a feed, which leaves the sequence alone, and what was added goes on"
  )
  func stops() async {
    let queue = ProcedureQueue()
    queue.isSuspended = true
    let source = Source()
    let feeding = Task {
      await queue.add((0..<1_000).lazy.map { _ in source.make() }, atMost: 5)
    }
    #expect(await eventually { queue.count >= 5 })
    feeding.cancel()
    await feeding.value
    #expect(source.made.value == 5)
    queue.isSuspended = false
    await queue.waitUntilAllFinished()
    #expect(source.unfinished.value == 0)
  }

  @Test("Q2, F3: an element that comes after the cancel is cancelled, and finishes")
  func comesTooLate() async {
    let queue = ProcedureQueue()
    let element = TracedProcedure("element")
    // A sequence that does not hear of the cancel.
    let gate = Gate()
    let begun = Gate()
    let sequence = AsyncStream<TracedProcedure>(unfolding: {
      begun.open()
      await gate.wait()
      return element
    })
    let feeding = Task { await queue.add(Unhearing(sequence: sequence), atMost: 2) }
    await begun.wait()
    feeding.cancel()
    gate.open()
    await feeding.value
    #expect(await element.waitUntilFinished() == .cancelled([]))
    #expect(!element.trace.events.contains("element execute"))
  }

  /// Hides the cancel of the task from the sequence, as some do.
  private struct Unhearing<Base: AsyncSequence & Sendable>: AsyncSequence
  where Base.Element: Sendable, Base.Failure == Never {
    let sequence: Base

    func makeAsyncIterator() -> Iterator { Iterator(sequence: sequence) }

    struct Iterator: AsyncIteratorProtocol {
      let sequence: Base

      func next() async -> Base.Element? {
        await next(isolation: nil)
      }

      func next(isolation actor: isolated (any Actor)?) async -> Base.Element? {
        await Task { [sequence] in
          for await element in sequence { return element }
          return nil
        }.value
      }
    }
  }

  @Test("Q2, F3: a procedure that finds no room is cancelled with queueFull, and finishes")
  func refuses() async {
    let queue = ProcedureQueue(name: "jobs", maxConcurrentProcedureCount: 1)
    let feed = ProcedureFeed(into: queue, atMost: 2)
    let running = TracedProcedure("running", end: .whenTold)
    let pending = TracedProcedure("pending")
    #expect(feed.addIfRoom(running) && feed.addIfRoom(pending))
    let refused = TracedProcedure("refused")
    let dependent = TracedProcedure("dependent")
    dependent.add(dependency: refused)
    queue.add(dependent)
    #expect(!feed.addIfRoom(refused))
    let error = ProcedureError(.queueFull, procedure: "jobs")
    #expect(await refused.waitUntilFinished().errors.first as? ProcedureError == error)
    #expect(!refused.trace.events.contains("refused execute"))
    #expect("\(refused.errors)".contains("no room for it in a feed of queue 'jobs'"))
    running.finish()
    await queue.waitUntilAllFinished()
    #expect(dependent.outcome == .succeeded && feed.count == 0)
    #expect(feed.addIfRoom(BlockProcedure {}))
    await queue.waitUntilAllFinished()
  }

  /// Stands for a decoded picture: what counts is how many of them there are at a time.
  private final class Picture: Sendable {
    static let byteCount = 220_000
    private let alive: Counter

    init(_ alive: Counter) {
      self.alive = alive
      alive.increment()
    }

    deinit { alive.decrement() }
  }

  @Test(
    "Q2: a fed pipeline keeps less than 60 MB of its 5,000 pictures of 220 KB at a time",
    arguments: [true, false])
  func pipeline(isFed: Bool) async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 4)
    let (alive, written, count) = (Counter(), Counter(), 5_000)
    let steps = (0..<count).lazy.flatMap { _ -> [Procedure] in
      let decode = ResultProcedure { Picture(alive) }
      let resize = TransformProcedure<Picture, Picture> { _ in Picture(alive) }
        .injectResult(from: decode)
      let write = TransformProcedure<Picture, Void> { _ in written.increment() }
        .injectResult(from: resize)
      return [decode, resize, write]
    }
    if isFed { await queue.add(steps, atMost: 48) } else { queue.add(Array(steps)) }
    await queue.waitUntilAllFinished()
    #expect(written.value == count)
    let most = alive.highest * Picture.byteCount
    #expect(isFed ? most < 60_000_000 : most > 600_000_000, "\(alive.highest) at once")
  }

  @Test("Q8: a closed queue ends a feed; what it refuses finishes, and keeps no room")
  func closed() async {
    let queue = ProcedureQueue(name: "jobs")
    queue.diagnosticsHandler = { _ in }
    let feed = ProcedureFeed(into: queue, atMost: 3)
    let source = Source()
    await feed.add(
      (0..<1_000).lazy.map { number in
        if number == 20 { queue.close() }
        return source.make()
      })
    #expect(source.made.value == 21)
    await queue.drain()
    // The one that was refused finishes on no queue, and gives its place back behind its last
    // event.
    #expect(await eventually { feed.count == 0 })
    #expect(source.unfinished.value == 0)
    let refused = BlockProcedure {}
    #expect(!feed.addIfRoom(refused))
    let error = await refused.waitUntilFinished().errors.first as? ProcedureError
    #expect(error == ProcedureError(.queueClosed, procedure: "jobs"))
  }

  /// The ways to wait for room in a feed.
  enum Wait: CaseIterable { case one, sequence, asynchronousSequence, thread }

  @Test(
    "Q8: a close ends each wait for room in a feed; what waits is refused, and finishes",
    arguments: Wait.allCases)
  func closeEndsWaits(_ wait: Wait) async {
    let queue = ProcedureQueue(name: "jobs")
    queue.diagnosticsHandler = { _ in }
    let feed = ProcedureFeed(into: queue, atMost: 1)
    let running = TracedProcedure("running", end: .whenTold)
    feed.addIfRoom(running)
    let source = Source()
    let single = TracedProcedure("single")
    let waiting = Task {
      switch wait {
      case .one: #expect(await feed.add(single) == false)
      case .sequence: await feed.add((0..<3).lazy.map { _ in source.make() })
      case .asynchronousSequence:
        let (numbers, input) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<3 { input.yield(number) }
        await feed.add(numbers.map { _ in source.make() })
      case .thread:
        await onThreadOfItsOwn { #expect(feed.blockUntilAdded(single) == false) }
      }
    }
    #expect(await eventually { feed.permits.waitingCount == 1 })
    queue.close()
    await waiting.value
    #expect(source.made.value == 0)
    if wait == .one || wait == .thread {
      let error = await single.waitUntilFinished().errors.first as? ProcedureError
      #expect(error == ProcedureError(.queueClosed, procedure: "jobs"))
      #expect(!single.trace.events.contains("single execute"))
    }
    // What has a place keeps it until it has finished.
    #expect(await eventually { feed.count == 1 })
    running.finish()
    await queue.drain()
    #expect(await eventually { feed.count == 0 })
  }

  @Test("Q8: a close ends a feed that waits for its sequence, which gives nothing more to it")
  func closeEndsIdleFeed() async {
    let queue = ProcedureQueue()
    let source = Source()
    let (numbers, input) = AsyncStream.makeStream(of: Int.self)
    let feeding = Task { await queue.add(numbers.map { _ in source.make() }, atMost: 4) }
    input.yield(1)
    #expect(await eventually { source.made.value == 1 })
    queue.close()
    await feeding.value
    input.yield(2)
    #expect(source.made.value == 1)
    await queue.drain()
  }

  @Test("Q8: an error with which a sequence answers to the close is not thrown")
  func errorAfterClose() async throws {
    let queue = ProcedureQueue()
    let begun = Gate()
    let throwing = AsyncThrowingStream<Procedure, any Error>(unfolding: {
      begun.open()
      try await Task.sleep(for: .seconds(1_000))
      return nil
    })
    let feeding = Task { try await queue.add(throwing, atMost: 2) }
    await begun.wait()
    queue.close()
    try await feeding.value
  }

  @Test("Q8: a feed asks no sequence for a closed queue")
  func closedBefore() async {
    let queue = ProcedureQueue()
    queue.close()
    let source = Source()
    await queue.add((0..<5).lazy.map { _ in source.make() }, atMost: 2)
    let (numbers, input) = AsyncStream.makeStream(of: Int.self)
    input.yield(1)
    await queue.add(numbers.map { _ in source.make() }, atMost: 2)
    #expect(source.made.value == 0)
  }

  @Test("Q8, F3: nothing is lost when a queue is closed as room is made")
  func raceOfClose() async {
    for _ in 0..<Rounds.few * 4 {
      let queue = ProcedureQueue(maxConcurrentProcedureCount: 2)
      queue.diagnosticsHandler = { _ in }
      let feed = ProcedureFeed(into: queue, atMost: 1)
      let first = TracedProcedure("first", end: .whenTold)
      feed.addIfRoom(first)
      #expect(await eventually { first.isExecuting })
      let others = (0..<3).map { TracedProcedure("other \($0)") }
      let waits = others.dropLast().map { other in Task { await feed.add(other) } }
      let third = others[2]
      let blocked = Task { await onThreadOfItsOwn { feed.blockUntilAdded(third) } }
      await Task.yield()
      await race({ first.finish() }, { waits[0].cancel() }, { queue.close() })
      for wait in waits + [blocked] { _ = await wait.value }
      for other in others {
        let outcome = await other.waitUntilFinished()
        let wasAdded = outcome == .succeeded
        #expect(wasAdded == other.trace.events.contains("\(other.name) execute"))
      }
      await queue.drain()
      #expect(await eventually { feed.count == 0 })
    }
  }

  /// Gives `count` procedures, and notes on which actor it is asked.
  private struct Asked: AsyncSequence, AsyncIteratorProtocol {
    typealias Element = BlockProcedure
    typealias Failure = Never
    var count: Int
    let actors: Recorder<Bool>

    func makeAsyncIterator() -> Self { self }

    mutating func next() async -> BlockProcedure? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async -> BlockProcedure? {
      actors.note(actor === MainActor.shared)
      count -= 1
      return count < 0 ? nil : BlockProcedure {}
    }
  }

  @Test("Q2: an asynchronous sequence is iterated on the actor of the call")
  @MainActor func actor() async {
    let queue = ProcedureQueue()
    let actors = Recorder<Bool>()
    await queue.add(Asked(count: 5, actors: actors), atMost: 2)
    await queue.waitUntilAllFinished()
    #expect(actors.events == Array(repeating: true, count: 6))
  }

  @Test("Q8: a feed leaves nothing on its queue when it is released")
  func released() async {
    let queue = ProcedureQueue()
    weak var permits: Permits?
    do {
      let feed = ProcedureFeed(into: queue, atMost: 1)
      permits = feed.permits
      #expect(permits != nil)
    }
    #expect(permits == nil)
    queue.close()
  }

  @Test("Q9: code that is not async blocks until there is room")
  func blocks() async {
    let queue = ProcedureQueue()
    let source = Source()
    let feed = ProcedureFeed(into: queue, atMost: 4)
    await onThreadOfItsOwn {
      for _ in 0..<1_000 { feed.blockUntilAdded(source.make()) }
    }
    await queue.waitUntilAllFinished()
    #expect(source.made.value == 1_000)
    // One more: made by the thread that waits with it.
    #expect(source.unfinished.highest <= 5 && feed.count == 0)
  }

  @Test("Q2: a sequence that has nothing to give keeps no room from others")
  func idleSequence() async {
    let queue = ProcedureQueue()
    let feed = ProcedureFeed(into: queue, atMost: 1)
    let (idle, input) = AsyncStream.makeStream(of: BlockProcedure.self)
    let feeding = Task { await feed.add(idle) }
    for _ in 0..<100 { await Task.yield() }
    for _ in 0..<10 { #expect(await feed.add(BlockProcedure {})) }
    input.finish()
    await feeding.value
  }

  @Test("Z3: a feed of ten delays of a second, two at a time, takes five in virtual time")
  func virtualTime() throws {
    try ProcedureSimulation.explore(seeds: 0..<50) { simulation in
      let queue = simulation.makeQueue(name: "delays")
      let feeder = simulation.makeQueue(name: "feeder")
      let feeding = AsyncProcedure {
        await queue.add((0..<10).lazy.map { _ in DelayProcedure(by: .seconds(1)) }, atMost: 2)
      }
      feeder.add(feeding)
      simulation.always("at most two") { queue.procedures.count { !$0.isFinished } <= 2 }
      try simulation.run()
      try simulation.expect(simulation.elapsed == .seconds(5), "took \(simulation.elapsed)")
      try simulation.expect(feeding.isFinished && feeding.outcome == .succeeded, "did not end")
    }
  }

  @Test("Q2, F3: nothing is lost when a feed is cancelled as room is made")
  func raceOfCancel() async {
    for _ in 0..<Rounds.few * 4 {
      let queue = ProcedureQueue(maxConcurrentProcedureCount: 2)
      let feed = ProcedureFeed(into: queue, atMost: 1)
      let first = TracedProcedure("first", end: .whenTold)
      feed.addIfRoom(first)
      #expect(await eventually { first.isExecuting })
      let others = (0..<3).map { TracedProcedure("other \($0)") }
      let waits = others.map { other in Task { await feed.add(other) } }
      await Task.yield()
      await race(
        { first.finish() }, { waits[0].cancel() }, { waits[2].cancel() }, { others[1].cancel() })
      for (other, wait) in zip(others, waits) {
        let wasAdded = await wait.value
        let outcome = await other.waitUntilFinished()
        if !wasAdded { #expect(outcome.isCancelled) }
      }
      await queue.waitUntilAllFinished()
      #expect(feed.count == 0)
    }
  }
}
