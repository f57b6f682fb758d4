import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct DependencyTests {
  @Test(
    "S3: on a procedure that was cancelled a dependency or condition changes nothing, at any time")
  func addedToACancelledOne() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let executing = TracedProcedure(end: .whenTold)
    let finished = TracedProcedure()
    let pending = TracedProcedure()
    pending.add(dependency: executing)
    queue.add(executing, finished, pending)
    finished.cancel()
    scheduler.run()
    let all = [TracedProcedure(), executing, finished, pending]
    for procedure in all {
      procedure.cancel()
      let before = procedure.dependencies
      #expect(!procedure.add(dependency: TracedProcedure()))
      #expect(!procedure.add(dependency: TracedProcedure(), requiring: .success))
      #expect(!procedure.add(condition: BlockCondition { true }))
      procedure.inject(dependency: TracedProcedure()) { _, _, _ in }
      #expect(procedure.dependencies == before && procedure.conditions.isEmpty)
    }
    #expect(TracedProcedure().add(dependency: TracedProcedure()))
    executing.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }

  private let scheduler = ManualScheduler()

  private enum End: CaseIterable {
    case succeeded, failed, cancelled, cancelledWithError

    var runs: [DependencyRequirement] {
      switch self {
      case .succeeded: [.any, .notCancelled, .success]
      case .failed: [.any, .notCancelled]
      case .cancelled, .cancelledWithError: [.any]
      }
    }

    func add(to queue: ProcedureQueue) -> Procedure {
      let procedure = BlockProcedure { if self == .failed { throw TestError("broken") } }
      queue.add(procedure)
      switch self {
      case .succeeded, .failed: break
      case .cancelled: procedure.cancel()
      case .cancelledWithError: procedure.cancel(withError: TestError("late"))
      }
      return procedure
    }
  }

  @Test("C8: the requirement of a dependency decides whether the dependent runs")
  func table() {
    let requirements: [DependencyRequirement] = [.any, .notCancelled, .success]
    for end in End.allCases {
      for requirement in requirements {
        for dependencyFinishesFirst in [false, true] {
          let queue = ProcedureQueue(scheduler: scheduler)
          let dependency = end.add(to: queue)
          if dependencyFinishesFirst { scheduler.run() }
          let dependent = BlockProcedure {}
          dependent.add(dependency: dependency, requiring: requirement)
          queue.add(dependent)
          scheduler.run()
          let runs = end.runs.contains(requirement)
          #expect(
            dependent.isFinished && dependent.isCancelled == !runs,
            "\(end), requiring \(requirement): \(dependent)")
        }
      }
    }
  }

  @Test("C8: the error names the dependency and carries its errors")
  func errors() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let broken = BlockProcedure { throw TestError("broken") }
    broken.name = "resize"
    let stopped = BlockProcedure {}
    stopped.name = "fetch"
    let afterBroken = BlockProcedure {}
    let afterStopped = BlockProcedure {}
    afterBroken.add(dependency: broken, requiring: .success)
    afterStopped.add(dependency: stopped, requiring: .success)
    queue.add(broken, stopped, afterBroken, afterStopped)
    stopped.cancel()
    scheduler.run()
    #expect(afterBroken.errors.deep == [.dependencyFailed("resize", TestError("broken"))])
    #expect(afterStopped.errors.deep == [.dependencyCancelled("fetch")])
  }

  @Test(
    "C8: a dependent is cancelled as soon as its required dependency has failed, whatever else it waits for"
  )
  func prompt() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let broken = BlockProcedure { throw TestError("broken") }
    let endless = TracedProcedure(end: .whenTold)
    let dependent = BlockProcedure {}
    dependent.add(dependency: endless)
    dependent.add(dependency: broken, requiring: .success)
    queue.add(dependent, endless, broken)
    scheduler.run()
    #expect(dependent.isFinished && dependent.isCancelled && !endless.isFinished)
    endless.finish()
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("C8: a requirement that was removed, or added while it waited, counts from there")
  func changed() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let broken = BlockProcedure { throw TestError("broken") }
    let (first, second) = (BlockProcedure {}, BlockProcedure {})
    first.add(dependency: broken, requiring: .success)
    first.remove(dependency: broken)
    second.add(dependency: broken)
    queue.add(first, second)
    second.add(dependency: broken, requiring: .success)
    queue.add(broken)
    scheduler.run()
    #expect(first.outcome == .succeeded)
    #expect(second.isCancelled)
  }
}
