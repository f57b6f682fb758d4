import Procedures
import ProcedureTestSupport
import Testing

/// Conditions that are added at every moment before the start.
@Suite(.hangLimit) struct LateConditionTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func condition(_ name: String, _ verdict: Verdict = .satisfied) -> any Condition {
    scripted(name, verdict, .atOnce, trace)
  }

  @Test("D1: a condition that is added while pending is evaluated after those before")
  func pending() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let dependency = TracedProcedure(end: .whenTold)
    let procedure = TracedProcedure()
    procedure.add(dependency: dependency)
    procedure.add(condition: condition("a"))
    queue.add(procedure, dependency)
    scheduler.run()
    procedure.add(condition: condition("b"))
    dependency.finish()
    scheduler.run()
    #expect(trace.events == ["a", "b"] && procedure.isFinished)
  }

  @Test(
    "D1: a ready procedure waits again for a new condition, and earlier ones are not asked again")
  func ready() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let (blocker, procedure) = (TracedProcedure(end: .whenTold), TracedProcedure())
    procedure.add(condition: condition("a"))
    queue.add(blocker, procedure)
    scheduler.run()
    #expect(trace.events == ["a"] && procedure.isPending)
    procedure.add(condition: condition("b", .ignored))
    blocker.finish()
    scheduler.run()
    #expect(trace.events == ["a", "b"])
    #expect(procedure.outcome == .cancelled([]))
  }

  @Test("D1: a ready procedure without conditions waits for a new one")
  func readyWithoutAny() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let (blocker, procedure) = (TracedProcedure(end: .whenTold), TracedProcedure())
    queue.add(blocker, procedure)
    scheduler.run()
    procedure.add(condition: condition("a", .ignored))
    scheduler.run()
    #expect(trace.events == ["a"])
    #expect(procedure.outcome == .cancelled([]))
    #expect(blocker.isExecuting)
  }

  @Test("D1: a condition that is added while another is awaited is evaluated after that")
  func whileAwaited() {
    let answers = Recorder<ConditionAnswer>()
    let procedure = TracedProcedure()
    procedure.add(condition: AnswerCondition { _, answer in answers.note(answer) })
    ProcedureQueue(scheduler: scheduler).add(procedure)
    scheduler.run()
    procedure.add(condition: condition("b"))
    scheduler.run()
    #expect(trace.events.isEmpty)
    answers.events[0](.satisfied)
    scheduler.run()
    #expect(answers.events.count == 1 && trace.events == ["b"] && procedure.isFinished)
  }

  @Test("D1: a condition that is added by another one of the same procedure is evaluated")
  func byACondition() {
    let procedure = TracedProcedure()
    let late = condition("late", .ignored)
    procedure.add(
      condition: BlockCondition { procedure in
        procedure.add(condition: late)
        return true
      })
    ProcedureQueue(scheduler: scheduler).add(procedure)
    scheduler.run()
    #expect(trace.events == ["late"])
    #expect(procedure.outcome == .cancelled([]))
  }

  @Test("D3: a condition that is added to a cancelled procedure is never evaluated")
  func cancelled() {
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.isSuspended = true
    let procedure = TracedProcedure()
    queue.add(procedure)
    procedure.cancel()
    procedure.add(condition: condition("a"))
    scheduler.run()
    #expect(trace.events.isEmpty && procedure.isFinished)
  }

  @Test("C8: an unmet requirement ends the procedure before its other dependencies have finished")
  func requirementFirst() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let cancelled = TracedProcedure("cancelled", end: .whenToldOrCancelled)
    let (endless, procedure) = (TracedProcedure(end: .whenTold), TracedProcedure("procedure"))
    procedure.add(dependency: cancelled, requiring: .notCancelled)
    procedure.add(dependency: endless)
    procedure.add(condition: condition("a"))
    queue.add(cancelled, endless, procedure)
    scheduler.run()
    cancelled.cancel()
    scheduler.run()
    #expect(procedure.isFinished && endless.isExecuting && trace.events.isEmpty)
    #expect(procedure.outcome?.deep == .cancelled([.dependencyCancelled("cancelled")]))
  }
}
