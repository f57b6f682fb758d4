import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

// Uses everything public once, as a user would who knows only the names.
final class Work: Procedure, @unchecked Sendable {
  override func execute() { finish() }
  override func procedureDidCancel(withErrors: [any Error]) {}
  override func procedureWillFinish(withErrors: [any Error]) {}
  override func procedureDidFinish(withErrors: [any Error]) {}
}
final class Group: GroupProcedure, @unchecked Sendable {
  override func child(_ child: Procedure, willFinishWithErrors errors: [any Error]) -> [any Error] {
    errors
  }
}
struct Cond: Condition {
  func evaluate(_ procedure: Procedure) async throws -> ConditionResult { .satisfied }
}
struct Cond2: Condition {
  func evaluate(_ p: Procedure) throws -> ConditionResult { .failed(CancellationError()) }
}
final class Out: Procedure, OutputProcedure, @unchecked Sendable {
  typealias Output = Int
  override func execute() { finish(withResult: .success(3)) }
}
final class In: Procedure, InputProcedure, @unchecked Sendable {
  typealias Input = Int
  override func execute() { finish(withErrors: []) }
}
final class InOut: Procedure, InputProcedure, OutputProcedure, @unchecked Sendable {
  var input: String?
  var output: Result<Int, any Error>?
  override func execute() { finish(withResult: .success(input?.count ?? 0)) }
}
enum Cat {}

@Suite(.hangLimit) struct SurfaceTests {
  @Test("the public names exist, and go together") func surface() async throws {
    let queue = ProcedureQueue(
      name: "q", maxConcurrentProcedureCount: 3, qualityOfService: .utility,
      underlyingQueue: nil, clock: .continuous)
    let p = Work()
    p.name = "x"
    p.priority = .veryHigh
    p.qualityOfService = .background
    p.addWillExecuteBlockObserver { procedure, pendingExecute in }
    p.addDidExecuteBlockObserver { procedure in }
    p.addDidCancelBlockObserver { procedure, errors in }
    p.addWillFinishBlockObserver(synchronizedWith: DispatchQueue.global()) {
      procedure, errors, pendingFinish in
    }
    p.addDidFinishBlockObserver { procedure, errors in }
    p.addWillAddProcedureBlockObserver { procedure, added in }
    p.addDidAddProcedureBlockObserver { procedure, added in }
    p.add(observer: TimeoutObserver(by: .seconds(3)))
    p.add(observer: DidCancelObserver { _, _ in })
    p.add(condition: Cond())
    p.add(condition: Cond() && BlockCondition { _ in true } || !Cond2())
    p.add(condition: AndCondition(Cond(), BlockCondition { true }))
    p.add(condition: OrCondition(Cond(), NotCondition(Cond2())))
    p.add(condition: IgnoredCondition(Cond()))
    p.add(condition: SilentCondition(Cond()))
    p.add(condition: NoFailedDependencies(onCancelled: .pass))
    p.add(condition: NoFailedDependencies())
    p.add(condition: MutuallyExclusive<Cat>())
    p.add(dependency: Work(), requiring: .success)
    for d in p.dependencies { queue.add(d) }
    #expect(await queue.run(p) == .succeeded)
    let out = Out(), inp = In(), io = InOut()
    inp.injectResult(from: out)
    io.injectResult(from: out, via: { "\($0)" })
    io.inject(dependency: inp) { procedure, dependency, errors in }
    queue.add(out, inp, io)
    #expect(try await io.value == 1)
    #expect(inp.input == 3)
    let r = ResultProcedure { 4 }
    let t = TransformProcedure<Int, String> { "\($0)" }
    t.injectResult(from: r)
    queue.add(r, t)
    #expect(try await t.value == "4")
    let a = AsyncProcedure { await Task.yield() }
    let ar = AsyncResultProcedure<Int> { 3 }
    let at = AsyncTransformProcedure<Int, Int> { $0 + 1 }
    at.injectResult(from: ar)
    queue.add(a, ar, at)
    #expect(try await at.value == 4)
    let flag = true
    let g = GroupProcedure {
      Work()
      if flag { Work() }
      for _ in 0..<3 { Work() }
      Work().then(Work())
    }
    g.isSuspended = false
    g.maxConcurrentChildCount = 2
    g.failurePolicy = .cancelRemaining
    g.add(child: Work())
    g.add(children: [Work()])
    queue.add(g, cancelledBy: .never)
    _ = await g.waitUntilFinished()
    #expect(g.children.count == 9)
    let numbers = ResultProcedure { [1, 2, 3] }
    let mapped = numbers.map { $0 * 2 }
    queue.add(numbers, mapped)
    #expect(try await mapped.value == [2, 4, 6])
    let retry = RetryProcedure(max: 3, wait: .immediate) { Work() }
    let rep = RepeatProcedure(max: 3, wait: .constant(.zero)) { Work() }
    let rep2 = RepeatProcedure(max: 3, wait: .exponential(power: 2, period: .zero)) { Work() }
    queue.add(retry, rep, rep2)
    for await event in rep.events { _ = event }
    let x = await withProcedureQueue { queue in
      queue.add(Work())
      return 3
    }
    #expect(x == 3)
    queue.add(
      MapProcedure<Int, Int>(source: [1]) { $0 + 1 }, FilterProcedure<Int>(source: [1]) { $0 > 1 })
    queue.add(GroupProcedure(Work(), Work()))
    let d = DelayProcedure(by: .zero), d2 = DelayProcedure(until: .now)
    queue.add(d, d2)
    let pair = IdentityProcedure<(Int, String)>().named("pair")
      .injectResult(from: ResultProcedure(name: "a") { 1 }, ResultProcedure(name: "b") { "b" })
    queue.add(pair.dependencies)
    queue.add(pair)
    #expect(try await pair.value == (1, "b"))
    let parts: [any OutputProcedure<Int>] = [Out(), ResultProcedure { 4 }]
    let gathered = parts.gathered()
    queue.add(gathered.dependencies)
    queue.add(gathered)
    #expect(try await gathered.value == [3, 4])
    let recovering = GroupProcedure(name: "recovering") {
      BlockProcedure { throw CancellationError() }
    }
    .recover { _, child, errors in child.failed ? [] : errors }
    let outcome: ProcedureOutcome = await queue.run(recovering)
    #expect(outcome == .succeeded)
    #expect(outcome.isSuccess && !outcome.isFailure && !outcome.isCancelled)
    try outcome.get()
    do {
      try await queue.run(
        RetryProcedure(max: 1) { DelayProcedure(by: .seconds(9)).timeout(after: .zero) }
      )
      .get()
    } catch let error as ProcedureError where error.code == .timedOut {
      #expect(error.procedure == "Delay of 9 s" && error.underlyingErrors.isEmpty)
    }
    let composed = ComposedProcedure(Work())
    let gated = GatedProcedure(Work()) { true }
    let ignoring = IgnoreErrorsProcedure(Work())
    queue.add(composed, gated, ignoring)
    queue.cancellationGracePeriod = .seconds(1)
    _ = queue.snapshot()
    queue.name = "renamed"
    queue.add { print("", terminator: "") }
    #expect(queue.add(Work()) && queue.add(barrier: Work()))
    queue.add([Work(), Work()])
    queue.add(Set([Work()]))
    p.addDidFinishBlockObserver { print("", terminator: "") }
    let e = Work(), f = Work()
    e.add(dependencies: f, Work())
    e.add(conditions: Cond(), BlockCondition { true })
    e.cancel()
    f.cancel()
    queue.add(AsyncProcedure(.callback) { finish in finish() })
    g.keepsFinishedChildren = false
    try await queue.clock.sleep(for: .zero)
    await queue.waitUntilAllFinished()
    queue.close()
    await queue.drain()
  }
}
