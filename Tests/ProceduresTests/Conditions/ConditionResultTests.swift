import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ConditionResultTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func run(_ conditions: any Condition...) -> TracedProcedure {
    let procedure = TracedProcedure("procedure")
    for condition in conditions { procedure.add(condition: condition) }
    ProcedureQueue(scheduler: scheduler).add(procedure)
    scheduler.run()
    return procedure
  }

  @Test(
    "D2: satisfied runs, ignored is cancelled without errors, failed and thrown with them",
    arguments: Verdict.allCases, Form.allCases)
  func results(verdict: Verdict, form: Form) {
    let procedure = run(scripted("a", verdict, form, trace))
    #expect(procedure.outcome == verdict.outcome("a"))
    #expect(procedure.trace.events.contains("procedure execute") == (verdict == .satisfied))
    #expect(trace.events == ["a"])
  }

  @Test(
    "D1, D2: the first condition that is not satisfied decides, and is the last to be asked")
  func pairs() {
    for (left, right) in Verdict.allCases.flatMap({ left in Verdict.allCases.map { (left, $0) } }) {
      for (first, second) in Form.allCases.flatMap({ form in Form.allCases.map { (form, $0) } }) {
        let trace = Recorder<String>()
        let procedure = run(
          scripted("left", left, first, trace), scripted("right", right, second, trace))
        let expected = left == .satisfied ? right.outcome("right") : left.outcome("left")
        #expect(procedure.outcome == expected, "\(left) \(first), \(right) \(second)")
        #expect(trace.events == (left == .satisfied ? ["left", "right"] : ["left"]))
      }
    }
  }

  @Test(
    "D1: no condition is evaluated before the last dependency has finished",
    arguments: Form.allCases)
  func afterDependencies(form: Form) {
    let queue = ProcedureQueue(scheduler: scheduler)
    let dependencies = (0..<3).map { TracedProcedure("\($0)", end: .whenTold) }
    let procedure = TracedProcedure("procedure")
    procedure.add(dependencies: dependencies)
    procedure.add(condition: scripted("a", .satisfied, form, trace))
    queue.add(procedure)
    queue.add(dependencies)
    for dependency in dependencies {
      scheduler.run()
      #expect(trace.events.isEmpty)
      dependency.finish()
    }
    scheduler.run()
    #expect(trace.events == ["a"] && procedure.isFinished)
  }

  @Test("D1: the same condition on two procedures is evaluated for each", arguments: Form.allCases)
  func shared(form: Form) {
    let queue = ProcedureQueue(scheduler: scheduler)
    let condition = scripted("a", .satisfied, form, trace)
    let procedures = (0..<2).map { _ in
      let procedure = TracedProcedure()
      procedure.add(condition: condition)
      return procedure
    }
    queue.add(procedures)
    scheduler.run()
    #expect(trace.events == ["a", "a"] && procedures.allSatisfy(\.isFinished))
  }

  @Test("D1: a condition gets the procedure that it is evaluated for")
  func whichProcedure() {
    let named = TracedProcedure("named")
    named.add(condition: BlockCondition { $0.name == "named" && $0.isPending })
    named.add(condition: AsyncCondition { $0.name == "named" && $0.isPending })
    ProcedureQueue(scheduler: scheduler).add(named)
    scheduler.run()
    #expect(named.outcome == .succeeded)
  }

  @Test("C8: a failed dependency does not stop a dependent, unless that asks for its success")
  func failedDependency() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let failing = TracedProcedure("failing", failure: TestError())
    let (order, success, condition) = (TracedProcedure(), TracedProcedure(), TracedProcedure())
    for procedure in [order, condition] { procedure.add(dependency: failing) }
    success.add(dependency: failing, requiring: .success)
    condition.add(condition: NoFailedDependencies())
    queue.add(failing, order, success, condition)
    scheduler.run()
    #expect(order.outcome == .succeeded)
    for procedure in [success, condition] {
      #expect(
        procedure.errors as? [ProcedureError] == [.init(.dependencyFailed, procedure: "failing")])
    }
  }

  @Test("Q3: a suspended queue evaluates nothing")
  func suspended() {
    let queue = ProcedureQueue(scheduler: scheduler)
    queue.isSuspended = true
    let procedure = TracedProcedure()
    procedure.add(condition: scripted("a", .satisfied, .atOnce, trace))
    queue.add(procedure)
    scheduler.run()
    #expect(trace.events.isEmpty)
    queue.isSuspended = false
    scheduler.run()
    #expect(procedure.isFinished)
  }

  @Test("G1: a child's conditions are not evaluated before its group executes")
  func children() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let (blocker, child) = (TracedProcedure(end: .whenTold), TracedProcedure())
    child.add(condition: scripted("child", .satisfied, .atOnce, trace))
    let group = GroupProcedure(child)
    group.add(dependency: blocker)
    group.add(condition: scripted("group", .satisfied, .atOnce, trace))
    queue.add(blocker, group)
    scheduler.run()
    #expect(trace.events.isEmpty)
    blocker.finish()
    scheduler.run()
    #expect(trace.events == ["group", "child"] && group.isFinished)
  }

  @Test(
    "D2, G4: a group whose condition is not satisfied never executes; its children end cancelled")
  func group() {
    let child = TracedProcedure()
    child.add(condition: scripted("child", .satisfied, .atOnce, trace))
    let group = GroupProcedure(child)
    group.add(condition: scripted("group", .ignored, .awaited, trace))
    ProcedureQueue(scheduler: scheduler).add(group)
    scheduler.run()
    #expect(group.isFinished && child.isFinished && child.isCancelled)
    #expect(trace.events == ["group"] && child.trace.events.contains("p execute") == false)
  }

  @Test("F1: a condition that finishes its procedure is refused; one that cancels it ends it")
  func fromInside() {
    let finished = run(BlockCondition { !$0.finish() })
    #expect(finished.outcome == .succeeded)
    let cancelled = run(BlockCondition { $0.cancel(withErrors: [TestError("inside")]) })
    #expect(cancelled.outcome == .cancelled([TestError("inside")]))
    #expect(!cancelled.trace.events.contains("procedure execute"))
  }

  @Test("results are compared as outcomes are: with their errors")
  func equality() async throws {
    let results: [ConditionResult] = [
      .satisfied, .ignored, .failed(TestError("a")), .failed(TestError("b")),
    ]
    for (left, first) in results.enumerated() {
      for (right, second) in results.enumerated() { #expect((first == second) == (left == right)) }
    }
    #expect(try BlockCondition { false }.evaluate(Procedure()) == .ignored)
  }
}
