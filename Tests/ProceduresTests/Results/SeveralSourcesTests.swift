import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct SeveralSourcesTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private typealias Input = (Int, String, [Double])

  private struct Sources {
    let number = SourceProcedure<Int>("number")
    let text = SourceProcedure<String>("text")
    let list = SourceProcedure<[Double]>("list")
    var all: [Procedure] { [number, text, list] }

    func finish(_ index: Int) {
      switch index {
      case 0: number.finish(withResult: .success(7))
      case 1: text.finish(withResult: .success("seven"))
      default: list.finish(withResult: .success([7]))
      }
    }
  }

  private static let orders = [
    [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
  ]

  @Test(
    "R3: several sources become a tuple in the order of the call, in whatever order they finish")
  func order() {
    for order in Self.orders {
      let (queue, sources) = (makeQueue(), Sources())
      let target = TransformProcedure<Input, String> { input in
        "\(input.0) \(input.1) \(input.2)"
      }
      let same = target.injectResult(from: sources.number, sources.text, sources.list)
      queue.add(sources.all)
      queue.add(same)
      for index in order {
        scheduler.run()
        #expect(target.isPending && target.input == nil)
        sources.finish(index)
      }
      scheduler.run()
      #expect(target.outcome == .succeeded)
      #expect((try! target.output?.get()) == "7 seven [7.0]")
      #expect(target.dependencies.isEmpty)
    }
  }

  @Test("R3: a target takes two sources, finished or enqueued before, or one of them twice")
  func moments() {
    let queue = makeQueue()
    let (early, late) = (ResultProcedure { 1 }, ResultProcedure { "late" })
    queue.add(early)
    scheduler.run()
    let pair = IdentityProcedure<(Int, String)>().injectResult(from: early, late)
    let twice = IdentityProcedure<(Int, Int)>().injectResult(from: early, early)
    let lateTwice = IdentityProcedure<(String, String)>().injectResult(from: late, late)
    queue.add(pair, twice, lateTwice)
    queue.add(late)
    scheduler.run()
    #expect(pair.input! == (1, "late") && twice.input! == (1, 1))
    #expect(lateTwice.input! == ("late", "late") && lateTwice.isFinished)
  }

  @Test(
    "R3: a source that fails, is cancelled or has no output cancels the target, as a single one does"
  )
  func failures() {
    for ending in ["failed", "cancelled", "empty"] {
      for index in 0..<3 {
        let (queue, sources) = (makeQueue(), Sources())
        let target = TransformProcedure<Input, Int>(name: "target") { $0.0 }
        target.injectResult(from: sources.number, sources.text, sources.list)
        queue.add(sources.all)
        queue.add(target)
        scheduler.run()
        for other in 0..<3 where other != index { sources.finish(other) }
        scheduler.run()
        let source = sources.all[index]
        switch ending {
        case "failed": source.finish(withError: TestError("e"))
        case "cancelled":
          source.cancel()
          source.finish()
        default: source.finish()
        }
        scheduler.run()
        let code: ProcedureError.Code =
          switch ending {
          case "failed": .dependencyFailed
          case "cancelled": .dependencyCancelled
          default: .requirementNotSatisfied
          }
        #expect(target.isCancelled && target.input == nil)
        #expect(target.errors as? [ProcedureError] == [.init(code, procedure: source.name)])
      }
    }
  }

  @Test("R3: a source goes when it has finished; the target and the values go when it is cancelled")
  func memory() {
    let queue = makeQueue()
    let released = Counter()
    final class Value: Sendable {
      let released: Counter
      init(_ released: Counter) { self.released = released }
      deinit { released.increment() }
    }
    let blocker = SourceProcedure<Int>()
    let target = TransformProcedure<(Value, Int), Int> { $0.1 }
    weak var source: ResultProcedure<Value>?
    do {
      let strong = ResultProcedure { Value(released) }
      target.injectResult(from: strong, blocker)
      source = strong
      queue.add(blocker, target, strong)
      scheduler.run()
      #expect(strong.isFinished && target.isPending)
    }
    #expect(source == nil && released.value == 0)
    target.cancel()
    scheduler.run()
    #expect(target.isFinished && released.value == 1)
    blocker.finish(withResult: .success(1))
    scheduler.run()
    weak var gone: TransformProcedure<(Int, Int), Int>?
    let (one, two) = (SourceProcedure<Int>(), SourceProcedure<Int>())
    do {
      let dropped = TransformProcedure<(Int, Int), Int> { $0.0 }
      dropped.injectResult(from: one, two)
      gone = dropped
    }
    #expect(gone == nil)
  }

  @Test("R3: sources that finish on several threads at once lose nothing")
  func race() async {
    let queue = ProcedureQueue()
    for round in 0..<Rounds.few {
      let sources = Sources()
      let target = TransformProcedure<Input, Int> { $0.0 + $0.1.count + $0.2.count }
      target.injectResult(from: sources.number, sources.text, sources.list)
      let executing = (0..<3).map { _ in Gate() }
      for (source, gate) in zip(sources.all, executing) {
        source.addDidExecuteBlockObserver { _ in gate.open() }
      }
      queue.add(sources.all)
      for gate in executing { await gate.wait() }
      await ProcedureTestSupport.race(
        { sources.finish(0) }, { sources.finish(1) }, { sources.finish(2) },
        { queue.add(target) })
      #expect((try? await target.value) == 13, "\(round)")
    }
  }

  @Test("E2: value throws the cause of what was injected, by its own type, however far it is")
  func values() async {
    struct HTTP: Error, Equatable { let status: Int }
    let queue = ProcedureQueue()
    let page = ResultProcedure<Int> { throw HTTP(status: 404) }
    let length = IdentityProcedure<Int>().injectResult(from: page)
    let doubled = TransformProcedure<Int, Int> { $0 * 2 }.injectResult(from: length)
    let both = IdentityProcedure<(Int, Int)>().injectResult(from: doubled, length)
    let parts: [any OutputProcedure<Int>] = [ResultProcedure { 1 }, page]
    let all = parts.gathered()
    let typed = [page, ResultProcedure { 1 }].gathered()
    let composed = ComposedProcedure(ResultProcedure<Int> { throw HTTP(status: 500) })
    let gated = GatedProcedure(ResultProcedure<Int> { throw HTTP(status: 500) }) { true }
    let extras = [parts[0]] as [Procedure]
    queue.add(extras + [page, length, doubled, both, all, typed, composed, gated])
    queue.add((typed.dependencies).filter { !$0.isEnqueued })
    await #expect(throws: HTTP(status: 404)) { try await doubled.value }
    await #expect(throws: HTTP(status: 404)) { try await both.value }
    await #expect(throws: HTTP(status: 404)) { try await all.value }
    await #expect(throws: HTTP(status: 404)) { try await typed.value }
    await #expect(throws: HTTP(status: 500)) { try await composed.value }
    await #expect(throws: HTTP(status: 500)) { try await gated.value }
    await #expect(throws: HTTP(status: 404)) {
      try await queue.value(of: IdentityProcedure<Int>().injectResult(from: length))
    }
    #expect(length.errors as? [ProcedureError] == [.init(.dependencyFailed, procedure: page.name)])
    let stopped = ResultProcedure<Int> { procedure in
      procedure.cancel()
      return 1
    }
    let after = IdentityProcedure<Int>().injectResult(from: stopped)
    queue.add(stopped, after)
    await #expect(throws: CancellationError.self) { try await after.value }
    await queue.waitUntilAllFinished()
  }
}
