import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct NoFailedDependenciesTests {
  private let scheduler = ManualScheduler()

  enum End: CaseIterable, Sendable {
    case succeeds
    case fails
    case isCancelled
    case isCancelledWithError
  }

  private func dependency(_ end: End, _ queue: ProcedureQueue) -> Procedure {
    let name = "\(end)"
    let dependency = TracedProcedure(
      name, end: end == .succeeds || end == .fails ? .itself : .whenToldOrCancelled,
      failure: end == .fails ? TestError(name) : nil)
    queue.add(dependency)
    switch end {
    case .succeeds, .fails: break
    case .isCancelled: dependency.cancel()
    case .isCancelledWithError: dependency.cancel(withError: TestError(name))
    }
    return dependency
  }

  /// How a procedure ends after dependencies that end like this.
  private func outcome(_ condition: NoFailedDependencies, after ends: End...) -> DeepOutcome? {
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = BlockProcedure {}
    procedure.add(dependencies: ends.map { dependency($0, queue) })
    procedure.add(condition: condition)
    queue.add(procedure)
    scheduler.run()
    return procedure.outcome?.deep
  }

  @Test(
    "D4: NoFailedDependencies is satisfied without dependencies, and after those that succeeded")
  func satisfied() {
    for cancelled in [NoFailedDependencies.Cancelled.fail, .ignore, .pass] {
      #expect(outcome(.init(onCancelled: cancelled)) == .succeeded)
      #expect(outcome(.init(onCancelled: cancelled), after: .succeeds, .succeeds) == .succeeded)
    }
  }

  @Test("D4: NoFailedDependencies fails after a failed dependency, and names it")
  func failed() {
    for cancelled in [NoFailedDependencies.Cancelled.fail, .ignore, .pass] {
      for other in End.allCases {
        let outcome = outcome(.init(onCancelled: cancelled), after: other, .fails)
        let error = DeepError.dependencyFailed("fails", TestError("fails"))
        #expect(outcome == .cancelled([error]), "\(other)")
      }
    }
  }

  @Test("D4: a cancelled dependency fails NoFailedDependencies, has it ignored, or passes")
  func cancelled() {
    let expected = DeepOutcome.cancelled([.dependencyCancelled("isCancelled")])
    #expect(outcome(.init(), after: .succeeds, .isCancelled) == expected)
    #expect(outcome(.init(onCancelled: .fail), after: .isCancelled) == expected)
    #expect(outcome(.init(onCancelled: .ignore), after: .isCancelled) == .cancelled([]))
    #expect(outcome(.init(onCancelled: .ignore), after: .isCancelledWithError) == .cancelled([]))
    #expect(outcome(.init(onCancelled: .pass), after: .isCancelled) == .succeeded)
    #expect(outcome(.init(onCancelled: .pass), after: .isCancelledWithError) == .succeeded)
  }

  @Test("D4: NoFailedDependencies names the first of several cancelled dependencies")
  func firstCancelled() {
    #expect(
      outcome(.init(), after: .isCancelledWithError, .isCancelled)
        == .cancelled([
          .dependencyCancelled("isCancelledWithError", TestError("isCancelledWithError"))
        ]))
  }

  @Test(
    "D4: NoFailedDependencies ignores removed dependencies, and procedures that conditions brought")
  func removed() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = BlockProcedure {}
    let failing = TracedProcedure("failing", end: .whenTold, failure: TestError())
    procedure.add(dependency: failing)
    procedure.add(
      condition: NoFailedDependencies().withPrerequisites { _ in
        [TracedProcedure("brought", failure: TestError())]
      })
    procedure.remove(dependency: failing)
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.outcome == .succeeded)
  }
}
