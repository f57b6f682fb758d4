import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

/// What happens to an evaluation when something is added while it goes on.
@Suite(.hangLimit) struct ReevaluationTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private func finished() -> Procedure {
    let procedure = BlockProcedure {}
    makeQueue().add(procedure)
    scheduler.run()
    return procedure
  }

  /// Notes its name, and does something the first time.
  private func note(
    _ name: String, first: @escaping @Sendable (Procedure) -> Void = { _ in }
  ) -> BlockCondition {
    let calls = Counter()
    return BlockCondition { [trace] procedure in
      trace.note(name)
      if calls.increment() == 1 { first(procedure) }
      return true
    }
  }

  @Test("D1: a dependency added between two conditions has all of them evaluated again after it")
  func dependencyMeanwhile() {
    let dependency = TracedProcedure("dependency", end: .whenTold)
    let procedure = TracedProcedure("procedure", trace: trace)
    procedure.add(condition: note("a"))
    procedure.add(condition: note("b") { $0.add(dependency: dependency) })
    procedure.add(condition: note("c"))
    let queue = makeQueue()
    queue.add(procedure, dependency)
    scheduler.run()
    #expect(trace.events == ["a", "b"] && procedure.isPending)
    dependency.finish()
    scheduler.run()
    #expect(trace.events.prefix(5) == ["a", "b", "a", "b", "c"] && procedure.isFinished)
  }

  @Test(
    "D1: conditions are evaluated again for a dependency that had finished, with another worker at hand"
  )
  func finishedDependencyMeanwhile() {
    let dependency = finished()
    let procedure = TracedProcedure("procedure", trace: trace)
    procedure.add(condition: note("a"))
    procedure.add(
      condition: note("b") { [scheduler] procedure in
        procedure.add(dependency: dependency)
        scheduler.run()
      })
    procedure.add(condition: note("c"))
    makeQueue().add(procedure)
    scheduler.run()
    #expect(trace.events.prefix(5) == ["a", "b", "a", "b", "c"] && procedure.isFinished)
  }

  @Test("D1: the late answer of an evaluation that began anew does not count")
  func lateAnswer() {
    let dependency = finished()
    let answers = Recorder<ConditionAnswer>()
    let procedure = TracedProcedure("procedure", trace: trace)
    procedure.add(condition: AnswerCondition { _, answer in answers.note(answer) })
    procedure.add(condition: note("b"))
    makeQueue().add(procedure)
    scheduler.run()
    procedure.add(dependency: dependency)
    scheduler.run()
    #expect(answers.events.count == 2)
    answers.events[0](.satisfied)
    scheduler.run()
    #expect(trace.events.isEmpty && procedure.isPending)
    answers.events[1](.satisfied)
    scheduler.run()
    #expect(trace.events.first == "b" && procedure.isFinished)
  }

  @Test("D1: a prerequisite is not lost when the evaluation begins anew meanwhile")
  func prerequisitesMeanwhile() {
    let dependency = TracedProcedure("dependency", end: .whenTold)
    let brought = TracedProcedure("brought", trace: trace)
    let procedure = TracedProcedure("procedure", trace: trace)
    procedure.add(
      condition: note("a").withPrerequisites { procedure in
        procedure.add(dependency: dependency)
        return [brought]
      })
    let queue = makeQueue()
    queue.add(procedure, dependency)
    scheduler.run()
    #expect(brought.isFinished && procedure.isPending)
    dependency.finish()
    scheduler.run()
    #expect(procedure.isFinished && !procedure.isCancelled)
    #expect(trace.events.first == "brought execute")
  }

  @Test(
    "F3: the start follows the evaluation on a worker that runs few procedures, and on one of another quality",
    arguments: [1, 40], [DispatchQoS.QoSClass.unspecified, .utility])
  func fewPerWorker(count: Int, quality: DispatchQoS.QoSClass) {
    let scheduler = ManualScheduler(proceduresPerWorker: 1)
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedures = (0..<count).map { _ in
      let procedure = BlockProcedure {}
      procedure.qualityOfService = quality
      procedure.add(condition: BlockCondition { true })
      return procedure
    }
    queue.add(procedures)
    scheduler.run()
    #expect(procedures.allSatisfy(\.isFinished) && queue.count == 0)
  }

  @Test("D1: a prerequisite that is named twice is added once, and waited for")
  func twice() {
    let brought = TracedProcedure("brought", trace: trace)
    let procedure = TracedProcedure("procedure", trace: trace)
    procedure.add(condition: note("a").withPrerequisites { _ in [brought, brought] })
    makeQueue().add(procedure)
    scheduler.run()
    #expect(procedure.isFinished && brought.isFinished)
    #expect(trace.events.filter { $0 == "brought execute" }.count == 1)
  }
}
