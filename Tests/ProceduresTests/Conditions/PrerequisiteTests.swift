import Procedures
import ProcedureTestSupport
import Testing

/// Procedures that a condition has run before it is evaluated.
@Suite(.hangLimit) struct PrerequisiteTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func makeQueue(_ limit: Int = .max) -> ProcedureQueue {
    ProcedureQueue(maxConcurrentProcedureCount: limit, scheduler: scheduler)
  }

  private func procedure(_ name: String, _ end: TracedProcedure.End = .itself) -> TracedProcedure {
    TracedProcedure(name, trace: trace, end: end)
  }

  /// A condition that brings a procedure.
  private func condition(
    _ name: String, _ verdict: Verdict = .satisfied, bringing brought: Procedure...
  ) -> WithPrerequisites<AnyCondition> {
    AnyCondition(scripted(name, verdict, .atOnce, trace)).withPrerequisites { _ in brought }
  }

  private var executions: [String] {
    trace.events.filter { $0.hasSuffix("execute") || !$0.contains(" ") }
  }

  @Test(
    "D1: prerequisites run once, before the condition, in the same queue, and are no dependencies")
  func order() {
    let (first, second) = (procedure("first"), procedure("second", .whenTold))
    let main = procedure("main")
    main.add(condition: scripted("a", .satisfied, .atOnce, trace))
    main.add(condition: condition("b", bringing: first, second))
    let queue = makeQueue()
    queue.add(main)
    scheduler.run()
    #expect(executions == ["a", "first execute", "second execute"])
    #expect(queue.procedures == [main, second] && main.dependencies.isEmpty)
    second.finish()
    scheduler.run()
    #expect(executions.suffix(2) == ["b", "main execute"])
    #expect(executions.count == 5 && queue.count == 0)
  }

  @Test("D1: prerequisites go first on a serial queue, and nothing is stuck")
  func serial() {
    let main = procedure("main")
    main.add(condition: condition("b", bringing: procedure("first"), procedure("second")))
    makeQueue(1).add(main, procedure("other"))
    scheduler.run()
    #expect(main.isFinished)
    #expect(executions.filter { $0 != "other execute" }.suffix(2) == ["b", "main execute"])
  }

  @Test("D1, G2: prerequisites become children of a group, and take part in its limit")
  func inGroup() {
    let (main, brought) = (procedure("main"), procedure("brought"))
    main.add(condition: condition("a", bringing: brought))
    let group = GroupProcedure(main)
    group.maxConcurrentChildCount = 1
    makeQueue().add(group)
    scheduler.run()
    #expect(group.children == [main, brought] && group.isFinished)
    #expect(executions == ["brought execute", "a", "main execute"])
  }

  @Test("D1: the condition judges a prerequisite that failed or was cancelled")
  func failing() {
    for end in [TracedProcedure.End.itself, .whenToldOrCancelled] {
      let brought = TracedProcedure("brought", end: end, failure: TestError())
      let main = procedure("main")
      main.add(
        condition: BlockCondition { brought.isFinished && brought.failed != brought.isCancelled }
          .withPrerequisites { _ in [brought] })
      makeQueue().add(main)
      scheduler.run()
      if end == .whenToldOrCancelled { brought.cancel() }
      scheduler.run()
      #expect(main.outcome == .succeeded)
    }
  }

  @Test("D3: prerequisites are cancelled with the procedure, which does not wait for them")
  func cancelled() {
    let (main, brought) = (procedure("main"), procedure("brought", .whenTold))
    main.add(condition: condition("a", bringing: brought))
    let queue = makeQueue()
    queue.add(main)
    scheduler.run()
    main.cancel()
    scheduler.run()
    #expect(main.isFinished && brought.isCancelled && brought.isExecuting)
    brought.finish()
    scheduler.run()
    #expect(queue.count == 0 && !executions.contains("a"))
  }

  @Test("D3: prerequisites that were enqueued before are only waited for, and not cancelled")
  func enqueuedBefore() {
    let (queue, other) = (makeQueue(), makeQueue())
    let (main, brought) = (procedure("main"), procedure("brought", .whenTold))
    other.add(brought)
    main.add(condition: condition("a", bringing: brought))
    let second = procedure("second")
    second.add(condition: condition("b", bringing: brought))
    queue.add(main, second)
    scheduler.run()
    #expect(other.procedures == [brought] && main.isPending && second.isPending)
    second.cancel()
    scheduler.run()
    #expect(second.isFinished && !brought.isCancelled)
    brought.finish()
    scheduler.run()
    #expect(main.isFinished && !main.isCancelled)
  }

  @Test("D1: a prerequisite that has finished long ago is not waited for")
  func finishedBefore() {
    let (queue, brought, main) = (makeQueue(), procedure("brought"), procedure("main"))
    queue.add(brought)
    scheduler.run()
    main.add(condition: condition("a", bringing: brought))
    queue.add(main)
    scheduler.run()
    #expect(main.isFinished)
  }

  @Test("D1: a prerequisite of two procedures runs once, before both")
  func shared() {
    let brought = procedure("brought", .whenTold)
    let procedures = ["a", "b"].map { name in
      let procedure = procedure(name)
      procedure.add(condition: condition(name, bringing: brought))
      return procedure
    }
    makeQueue().add(procedures)
    scheduler.run()
    #expect(procedures.map(\.isPending) == [true, true])
    #expect(brought.isExecuting)
    brought.finish()
    scheduler.run()
    #expect(procedures.map(\.isFinished) == [true, true])
  }

  @Test(
    "D1: the closure of prerequisites is called once for each procedure, also when conditions are evaluated anew"
  )
  func once() {
    let calls = Counter()
    let condition = AnyCondition(scripted("a")).withPrerequisites { _ in
      calls.increment()
      return [BlockProcedure {}]
    }
    let queue = makeQueue()
    let answers = Recorder<ConditionAnswer>()
    let main = procedure("main")
    main.add(condition: condition)
    main.add(condition: AnswerCondition { _, answer in answers.note(answer) })
    queue.add(main)
    scheduler.run()
    main.add(dependency: queue.adding(BlockProcedure {}))
    scheduler.run()
    #expect(calls.value == 1 && answers.events.count == 2)
    answers.events[1](.satisfied)
    scheduler.run()
    #expect(main.isFinished)
    let other = procedure("other")
    other.add(condition: condition)
    queue.add(other)
    scheduler.run()
    #expect(calls.value == 2)
  }

  @Test("D1: a condition that is not reached brings nothing")
  func notReached() {
    let brought = procedure("brought")
    let main = procedure("main")
    main.add(condition: scripted("a", .ignored, .atOnce, trace))
    main.add(condition: condition("b", bringing: brought))
    makeQueue().add(main)
    scheduler.run()
    #expect(main.isFinished && !brought.isEnqueued)
  }

  @Test("D4: Silent drops prerequisites; And, Or, Not and Ignored keep them")
  func wrappers() {
    func brings(_ make: (WithPrerequisites<AnyCondition>) -> any Condition) -> Bool {
      let brought = procedure("brought")
      let main = procedure("main")
      main.add(condition: make(condition("a", bringing: brought)))
      makeQueue().add(main)
      scheduler.run()
      #expect(main.isFinished)
      return brought.isFinished
    }
    #expect(!brings { SilentCondition($0) })
    #expect(!brings { AndCondition(SilentCondition($0), scripted("b")) })
    #expect(brings { AndCondition(scripted("b"), $0) })
    #expect(brings { OrCondition(scripted("b"), $0) })
    #expect(brings { NotCondition($0) })
    #expect(brings { IgnoredCondition($0) })
    #expect(brings { $0.withPrerequisites { _ in [] } })
  }

  @Test("D1: prerequisites may have conditions and prerequisites of their own")
  func nested() {
    let (inner, outer, main) = (procedure("inner"), procedure("outer"), procedure("main"))
    outer.add(condition: condition("a", bringing: inner))
    main.add(condition: condition("b", bringing: outer))
    makeQueue(1).add(main)
    scheduler.run()
    #expect(
      executions == ["inner execute", "a", "outer execute", "b", "main execute"])
  }
}

/// Any condition as one of a known type.
struct AnyCondition: Condition {
  private let base: any Condition

  init(_ base: any Condition) { self.base = base }

  func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
    try await base.evaluate(procedure)
  }

  func begin(_ procedure: Procedure) -> ConditionEvaluation { base.begin(procedure) }
}

extension ProcedureQueue {
  /// Adds a procedure, and is called where it is needed.
  fileprivate func adding(_ procedure: Procedure) -> Procedure {
    add(procedure)
    return procedure
  }
}
