import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct GatherProcedureTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private func sources(_ count: Int) -> [IdentityProcedure<Int>] {
    (0..<count).map { number in
      let source = IdentityProcedure<Int>()
      source.name = "source \(number)"
      source.input = number
      return source
    }
  }

  @Test("the outputs come in the order of the sources, in whatever order these finish")
  func positions() throws {
    for count in [0, 1, 3, 100] {
      let queue = makeQueue()
      let sources = sources(count)
      for (source, next) in zip(sources, sources.dropFirst()) { source.add(dependency: next) }
      let gather = sources.gathered()
      queue.add(gather)
      queue.add(sources)
      scheduler.run()
      #expect(try gather.output?.get() == Array(0..<count))
    }
  }

  @Test("R1: a source that fails, is cancelled or has no output cancels it at once; no gap is left")
  func failures() {
    for error in ["failed", "cancelled", "without output"] {
      let queue = makeQueue()
      let sources = sources(3)
      let blocker = TracedProcedure(end: .whenTold)
      sources[2].add(dependency: blocker)
      let gather = GatherProcedure(sources)
      queue.add(blocker)
      queue.add(sources)
      queue.add(gather)
      switch error {
      case "failed": sources[1].input = nil
      case "cancelled": sources[1].cancel()
      default: sources[1].addWillExecuteBlockObserver { source, _ in source.finish() }
      }
      scheduler.run()
      #expect(gather.isFinished && gather.isCancelled && gather.failed && gather.output == nil)
      #expect((gather.errors as? [ProcedureError])?.map(\.procedure) == ["source 1"])
      blocker.finish()
      scheduler.run()
    }
  }

  @Test("sources of several types, and from a finished one")
  func mixed() throws {
    let queue = makeQueue()
    let finished = ResultProcedure { 1 }
    queue.add(finished)
    scheduler.run()
    let transform = TransformProcedure<Int, Int> { $0 + 1 }
    transform.input = 1
    let gather = GatherProcedure<Int>([finished, transform])
    queue.add(transform, gather)
    scheduler.run()
    #expect(try gather.output?.get() == [1, 2])
  }

  @Test("R2: a gathering procedure keeps no source alive once the values have been handed over")
  func memory() {
    let queue = makeQueue()
    for count in [3, 200] {
      let gather: GatherProcedure<Int>
      weak var source: IdentityProcedure<Int>?
      do {
        let sources = sources(count)
        source = sources[1]
        gather = sources.gathered()
        // Holds the gathering back until its sources have gone.
        queue.add(gather)
        queue.add(sources)
        gather.addWillExecuteBlockObserver { gather, _ in #expect(gather.dependencies.isEmpty) }
        scheduler.run()
      }
      #expect(source == nil && gather.isFinished)
    }
  }
}
