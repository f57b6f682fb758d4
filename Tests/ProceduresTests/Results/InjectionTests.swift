import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct InjectionTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  /// Where the source stands when it is injected from.
  private enum Moment: CaseIterable {
    case initialized, enqueued, executing, finished
  }

  /// How the source ends.
  private enum End: CaseIterable {
    case value, failure, failureWithoutResult, cancelled, cancelledWithError, noOutput

    var expected: DeepOutcome {
      switch self {
      case .value: .succeeded
      case .failure, .failureWithoutResult:
        .cancelled([.dependencyFailed("source", TestError("broken"))])
      case .cancelled: .cancelled([.dependencyCancelled("source")])
      case .cancelledWithError: .cancelled([.dependencyCancelled("source", TestError("stop"))])
      case .noOutput:
        .cancelled([.error(ProcedureError(.requirementNotSatisfied, procedure: "source"))])
      }
    }

    func end(_ source: SourceProcedure<Int>) {
      switch self {
      case .value: source.finish(withResult: .success(7))
      case .failure: source.finish(withResult: .failure(TestError("broken")))
      case .failureWithoutResult: source.finish(withError: TestError("broken"))
      case .cancelled: source.cancel()
      case .cancelledWithError: source.cancel(withError: TestError("stop"))
      case .noOutput: source.finish()
      }
      source.finish()
    }
  }

  @Test(
    "R1: a target gets the value, or the reason, whenever it is injected and however the source ends"
  )
  func table() {
    for end in End.allCases {
      for moment in Moment.allCases {
        let queue = makeQueue()
        let source = SourceProcedure<Int>()
        let target = TransformProcedure<Int, String> { "\($0)" }
        if moment != .initialized { queue.add(source) }
        if moment == .executing || moment == .finished { scheduler.run() }
        if moment == .finished {
          end.end(source)
          scheduler.run()
        }
        target.injectResult(from: source)
        queue.add(target)
        if moment == .initialized { queue.add(source) }
        scheduler.run()
        if moment != .finished {
          #expect(target.isPending)
          end.end(source)
          scheduler.run()
        }
        #expect(target.outcome?.deep == end.expected, "\(end) \(moment)")
        #expect(target.input == (end == .value ? 7 : nil))
        if end == .value { #expect(try! target.output?.get() == "7") }
      }
    }
  }

  @Test("R1: a cancelled source cancels the target once it has finished, not before")
  func cancelledSource() {
    let (queue, source) = (makeQueue(), SourceProcedure<Int>())
    let target = IdentityProcedure<Int>()
    target.injectResult(from: source)
    queue.add(source, target)
    scheduler.run()
    source.cancel()
    scheduler.run()
    #expect(source.isCancelled && !source.isFinished && !target.isCancelled)
    source.finish()
    scheduler.run()
    #expect(target.isCancelled && target.isFinished)
  }

  @Test("R1: the value is there before willExecute, and after the source's didFinish observers")
  func order() {
    let queue = makeQueue()
    let trace = Recorder<String>()
    let source = ResultProcedure { 1 }
    source.addDidFinishBlockObserver { _, _ in trace.note("didFinish") }
    let target = TransformProcedure<Int, Int> { $0 + 1 }
    target.addWillExecuteBlockObserver { target, _ in trace.note("input \(target.input ?? 0)") }
    target.injectResult(from: source)
    queue.add(target, source)
    scheduler.run()
    #expect(trace.events == ["didFinish", "input 1"])
  }

  @Test("R1: via maps the output; what it throws cancels the target")
  func via() {
    let queue = makeQueue()
    let source = ResultProcedure { "12" }
    let mapped = TransformProcedure<Int, Int> { $0 + 1 }
    let refused = TransformProcedure<Int, Int> { $0 }
    mapped.injectResult(from: source, via: { text in Int(text) ?? 0 })
    refused.injectResult(from: source) { _ in throw TestError("not a number") }
    queue.add(mapped, refused, source)
    scheduler.run()
    #expect(try! mapped.output?.get() == 13)
    #expect(refused.outcome == .cancelled([TestError("not a number")]))
  }

  @Test("R1: ready-made procedures hand over the value, the failure or the cancel")
  func readyMade() {
    for end in [End.value, .failure, .cancelled, .cancelledWithError] {
      let queue = makeQueue()
      let source = ResultProcedure(name: "source") { () throws -> Int in
        if end == .failure { throw TestError("broken") }
        return 7
      }
      let target = TransformProcedure<Int, Int> { $0 + 1 }.injectResult(from: source)
      queue.add(source, target)
      if end == .cancelled { source.cancel() }
      if end == .cancelledWithError { source.cancel(withError: TestError("stop")) }
      scheduler.run()
      #expect(target.outcome?.deep == end.expected)
      #expect(target.input == (end == .value ? 7 : nil))
      #expect((try? target.output?.get()) == (end == .value ? 8 : nil))
      #expect(target.dependencies.isEmpty)
    }
  }

  @Test("R1: a subclass of a ready-made procedure with a property of its own has the value there")
  func inputOfItsOwn() async throws {
    let target = DoublingProcedure { ($0 as? DoublingProcedure)?.input.map { $0 * 2 } ?? 0 }
      .injectResult(from: ResultProcedure { 21 })
    let queue = ProcedureQueue()
    queue.add(target.dependencies)
    #expect(try await queue.value(of: target) == 42)
    #expect(target.input == 21)
  }

  @Test("R1: an optional output is unwrapped; nil cancels the target")
  func optional() {
    for value in [5, nil] as [Int?] {
      let queue = makeQueue()
      let source = ResultProcedure<Int?> { value }
      source.name = "maybe"
      let target = IdentityProcedure<Int>()
      target.injectResult(from: source)
      let asItIs = IdentityProcedure<Int?>()
      asItIs.injectResult(from: source)
      queue.add(target, asItIs, source)
      scheduler.run()
      #expect(target.input == value && target.isCancelled == (value == nil))
      #expect(asItIs.input == .some(value) && asItIs.isFinished && !asItIs.isCancelled)
      if value == nil {
        #expect(
          target.errors as? [ProcedureError] == [
            .init(.requirementNotSatisfied, procedure: "maybe")
          ])
      }
    }
  }

  @Test("R1: an output of nothing known but its type can be injected")
  func existential() {
    let queue = makeQueue()
    let sources: [any OutputProcedure<Int>] = [ResultProcedure { 1 }, IdentityProcedure<Int>()]
    let targets: [any InputProcedure<Int>] = [IdentityProcedure<Int>(), IdentityProcedure<Int>()]
    for (source, target) in zip(sources, targets) {
      target.injectResult(from: source)
      queue.add(source, target)
    }
    scheduler.run()
    #expect(targets.map { $0.input } == [1, nil])
    #expect(targets[1].isCancelled)
  }

  @Test("R1: a value that the target had is replaced; of several sources the last to finish counts")
  func several() {
    let queue = makeQueue()
    let (first, second) = (ResultProcedure { 1 }, ResultProcedure { 2 })
    second.add(dependency: first)
    let target = IdentityProcedure<Int>()
    target.input = 9
    target.injectResult(from: second).injectResult(from: first)
    queue.add(target, first, second)
    scheduler.run()
    #expect(target.input == 2)
  }

  @Test("R1: a target that was cancelled before gets nothing, and its closure is not called")
  func cancelledTarget() {
    let (queue, source) = (makeQueue(), SourceProcedure<Int>())
    let calls = Counter()
    let target = IdentityProcedure<Int>()
    target.injectResult(from: source) { output in
      calls.increment()
      return output
    }
    queue.add(source, target)
    scheduler.run()
    target.cancel()
    source.finish(withResult: .success(1))
    scheduler.run()
    #expect(target.outcome == .cancelled([]))
    #expect(target.input == nil && calls.value == 0)
  }

  @Test("R1: inject hands over both procedures, however the dependency ended; a throw cancels")
  func inject() {
    final class Target: Procedure, @unchecked Sendable {
      var seen = ""
      override func execute() { finish() }
    }
    let queue = makeQueue()
    let fine = TracedProcedure("fine")
    let broken = TracedProcedure("broken", failure: TestError("e"))
    let stopped = TracedProcedure("stopped")
    let target = Target()
    for dependency in [fine, broken, stopped] {
      target.inject(dependency: dependency) { target, dependency, errors in
        target.seen += "\(dependency.name) \(errors.count) "
      }
    }
    let refusing = Target().inject(dependency: fine) { _, _, _ in throw TestError("no") }
    queue.add(target, refusing, fine, broken, stopped)
    stopped.cancel()
    scheduler.run()
    #expect(Set(target.seen.split(separator: " ")) == ["fine", "broken", "stopped", "0", "1"])
    #expect(target.outcome == .succeeded)
    #expect(refusing.outcome == .cancelled([TestError("no")]))
  }

  @Test(
    "R1: each error down a chain says which procedure stopped it, and what began it, and no more")
  func causes() {
    for isFailure in [true, false] {
      let queue = makeQueue()
      let source = ResultProcedure<Int> { throw TestError("broken") }
      source.name = "0"
      let chain = (1...4).map { number in
        let step = IdentityProcedure<Int>()
        step.name = "\(number)"
        return step
      }
      chain[0].injectResult(from: source)
      for (next, last) in zip(chain.dropFirst(), chain) { next.injectResult(from: last) }
      queue.add(source)
      queue.add(chain)
      if !isFailure { source.cancel() }
      scheduler.run()
      let cause: DeepError =
        isFailure ? .dependencyFailed("0", TestError("broken")) : .dependencyCancelled("0")
      let others = (1...3).map { DeepError.dependencyCancelled("\($0)", cause.error) }
      #expect(chain.map(\.errors.deep) == ([cause] + others).map { [$0] })
    }
  }

  @Test("D4: a condition still sees a dependency that failed and was injected from")
  func conditions() {
    let queue = makeQueue()
    let broken = TracedProcedure("broken", failure: TestError("e"))
    let target = BlockProcedure {}
    target.inject(dependency: broken) { _, _, _ in }
    target.add(condition: NoFailedDependencies())
    queue.add(broken, target)
    scheduler.run()
    #expect(target.isCancelled && target.failed && target.dependencies.isEmpty)
  }

  @Test("R1: a target may have many sources, and a source many targets")
  func many() {
    let queue = makeQueue()
    let sources = (0..<200).map { number in ResultProcedure { number } }
    let sum = Recorder<Int>()
    let target = BlockProcedure {}
    for source in sources {
      target.inject(dependency: source) { _, source, _ in sum.note(try! source.output!.get()) }
    }
    let targets = (0..<200).map { _ in IdentityProcedure<Int>().injectResult(from: sources[3]) }
    queue.add(targets)
    queue.add(target)
    queue.add(sources)
    scheduler.run()
    #expect(sum.events.reduce(0, +) == 19_900 && target.dependencies.isEmpty)
    #expect(targets.allSatisfy { $0.input == 3 })
  }

  /// ```
  /// thread 1             thread 2
  /// source.finish        target.injectResult
  ///   set the output       note the dependency
  ///   retire               wait for it, or find that it has finished
  /// ```
  @Test("R1: an injection against the source's finish loses nothing")
  func injectionAgainstFinish() async {
    let queue = ProcedureQueue()
    for round in 0..<Rounds.few {
      let source = SourceProcedure<Int>()
      let executing = Gate()
      source.addDidExecuteBlockObserver { _ in executing.open() }
      let target = IdentityProcedure<Int>()
      queue.add(source)
      await executing.wait()
      await race(
        { source.finish(withResult: .success(round)) },
        {
          target.injectResult(from: source)
          queue.add(target)
        })
      #expect(await target.waitUntilFinished() == .succeeded)
      #expect(target.input == round)
    }
  }
}

/// A property in the place of the one that comes with the protocol.
private final class DoublingProcedure: AsyncResultProcedure<Int>, InputProcedure,
  @unchecked Sendable
{
  private let storage = Slot<Int>()
  var input: Int? {
    get { storage.value }
    set { storage.value = newValue }
  }
}
