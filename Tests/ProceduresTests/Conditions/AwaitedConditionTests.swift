import Procedures
import ProcedureTestSupport
import Testing

/// Conditions whose answer comes later, or never, or too late.
@Suite(.hangLimit) struct AwaitedConditionTests {
  private let scheduler = ManualScheduler()
  private let answers = Recorder<ConditionAnswer>()

  private func asking(_ queue: ProcedureQueue? = nil) -> TracedProcedure {
    let procedure = TracedProcedure("procedure")
    procedure.add(condition: AnswerCondition { [answers] _, answer in answers.note(answer) })
    (queue ?? ProcedureQueue(scheduler: scheduler)).add(procedure)
    scheduler.run()
    return procedure
  }

  @Test(
    "D1: answering twice is ignored, whatever the second answer is", arguments: Verdict.allCases)
  func twice(second: Verdict) throws {
    let procedure = asking()
    answers.events[0](.satisfied)
    answers.events[0]((try? second.result("second")) ?? .ignored)
    scheduler.run()
    answers.events[0](.ignored)
    scheduler.run()
    #expect(procedure.outcome == .succeeded)
  }

  @Test("D1: an answer that is released uncalled fails the condition, with a sentence")
  func letGo() {
    let procedure = TracedProcedure("procedure")
    procedure.add(condition: AnswerCondition { _, _ in })
    ProcedureQueue(scheduler: scheduler).add(procedure)
    scheduler.run()
    #expect(
      "\(procedure.outcome!)"
        == "cancelled: Condition 'AnswerCondition' of 'procedure' was not satisfied: "
        + "its answer was released without being called")
  }

  @Test("D3: a cancel ends the evaluation promptly, and a later answer changes nothing")
  func cancelled() {
    let procedure = asking()
    #expect(procedure.isPending)
    procedure.cancel(withErrors: [TestError("stop")])
    scheduler.run()
    #expect(procedure.outcome == .cancelled([TestError("stop")]))
    answers.events[0](.failed(TestError("late")))
    scheduler.run()
    #expect(procedure.outcome == .cancelled([TestError("stop")]))
  }

  @Test("D3, C3: a cancel ends the evaluation in a queue that was suspended meanwhile")
  func cancelledWhileSuspended() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = asking(queue)
    queue.isSuspended = true
    procedure.cancel()
    scheduler.run()
    #expect(procedure.isFinished && queue.count == 0)
  }

  @Test("D3: the task that evaluates is cancelled, and not waited for")
  func taskIsCancelled() {
    let isCancelled = Gate()
    let procedure = TracedProcedure()
    procedure.add(
      condition: AsyncCondition {
        await withTaskCancellationHandler {
          await isCancelled.wait()
        } onCancel: {
          isCancelled.open()
        }
        return true
      })
    ProcedureQueue(scheduler: scheduler).add(procedure)
    scheduler.run()
    #expect(!isCancelled.isOpen)
    procedure.cancel()
    scheduler.run()
    #expect(procedure.isFinished && isCancelled.isOpen)
  }

  @Test("D3: a dependency that is added cancels the task, and a new one asks again")
  func taskIsRestarted() {
    let cancels = Counter()
    let procedure = TracedProcedure()
    let (calls, gate) = (Counter(), Gate())
    procedure.add(
      condition: AsyncCondition {
        if calls.increment() > 1 { return true }
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          cancels.increment()
          gate.open()
        }
        return false
      })
    let queue = ProcedureQueue(scheduler: scheduler)
    let dependency = TracedProcedure(end: .whenTold)
    queue.add(procedure)
    scheduler.run()
    procedure.add(dependency: dependency)
    #expect(cancels.value == 1)
    queue.add(dependency)
    scheduler.run()
    #expect(calls.value == 1 && procedure.isPending)
    dependency.finish()
    scheduler.run()
    #expect(calls.value == 2 && procedure.isFinished && !procedure.isCancelled)
  }

  @Test(
    "D1: observers are called while a condition is awaited, and neither slot nor worker is held")
  func meanwhile() {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler)
    let procedure = asking(queue)
    let attached = Counter()
    procedure.add(observer: BlockObserver(didAttach: { _ in attached.increment() }))
    let other = TracedProcedure()
    queue.add(other)
    scheduler.run()
    #expect(attached.value == 1 && other.isFinished && procedure.isPending)
  }

  @Test("D3: a child that awaits a condition is cancelled with its group, and the group ends")
  func inGroup() {
    let child = TracedProcedure()
    child.add(condition: AnswerCondition { [answers] _, answer in answers.note(answer) })
    let group = GroupProcedure(child, TracedProcedure())
    ProcedureQueue(scheduler: scheduler).add(group)
    scheduler.run()
    #expect(answers.events.count == 1 && group.isExecuting)
    group.cancel()
    scheduler.run()
    #expect(child.isFinished && group.isFinished)
  }

  @Test("D1, T3: tasks of conditions run on the workers of the queue")
  func whereItRuns() {
    let before = scheduler.submissions
    let procedure = TracedProcedure()
    procedure.add(condition: AsyncCondition { true })
    ProcedureQueue(scheduler: scheduler).add(procedure)
    // Nothing happens but by this thread.
    scheduler.run()
    #expect(procedure.isFinished && scheduler.submissions > before + 1)
  }
}
