import Dispatch
import Procedures
import ProcedureTestSupport
import Testing

@Suite(.hangLimit) struct ConditionTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()

  private func note(_ name: String, _ result: ConditionResult = .satisfied) -> Noting {
    Noting(name: name, trace: trace, result: result)
  }

  private struct Noting: SynchronousCondition {
    let name: String
    let trace: Recorder<String>
    var result = ConditionResult.satisfied

    func evaluate(_ procedure: Procedure) -> ConditionResult {
      trace.note(name)
      return result
    }
  }

  @Test(
    "D1: conditions are evaluated in the order added, after the dependencies, until one is not satisfied"
  )
  func order() {
    let queue = ProcedureQueue(scheduler: scheduler)
    let dependency = TracedProcedure("dependency", trace: trace, end: .whenTold)
    let procedure = TracedProcedure("procedure", trace: trace)
    procedure.add(dependency: dependency)
    procedure.add(condition: note("a"))
    procedure.add(condition: note("b"))
    procedure.add(condition: note("c", .ignored))
    procedure.add(condition: note("d", .failed(TestError())))
    queue.add(procedure, dependency)
    scheduler.run()
    #expect(!trace.events.contains("a"))
    dependency.finish()
    scheduler.run()
    #expect(trace.events.filter { $0.count == 1 } == ["a", "b", "c"])
    #expect(procedure.outcome == .cancelled([]))
    #expect(!trace.events.contains("procedure execute"))
  }

  @Test("D1: an asynchronous condition holds no slot and no turn, and its answer counts once")
  func asynchronous() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    let gate = Gate()
    let procedure = TracedProcedure("procedure", trace: trace)
    procedure.add(
      condition: AsyncCondition {
        await gate.wait(); return true
      })
    queue.add(procedure)
    let other = BlockProcedure {}
    #expect(await queue.run(other) == .succeeded)
    #expect(procedure.isPending)
    gate.open()
    #expect(await procedure.waitUntilFinished() == .succeeded)
  }

  @Test("D1: 10,000 conditions on one procedure are all evaluated")
  func many() async {
    let queue = ProcedureQueue()
    let counter = Counter()
    let procedure = BlockProcedure {}
    for _ in 0..<10_000 {
      procedure.add(condition: BlockCondition { counter.increment() > 0 })
    }
    #expect(await queue.run(procedure) == .succeeded)
    #expect(counter.value == 10_000)
  }

  @Test("Q1, D1: a worker that stops after one step leaves nothing behind that only it knows of")
  func workerThatStops() {
    let scheduler = ManualScheduler(proceduresPerWorker: 1)
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = TracedProcedure()
    procedure.add(condition: BlockCondition { true })
    queue.add(procedure)
    scheduler.run()
    #expect("\(procedure)" == "'p' (TracedProcedure, finished)")
  }

  @Test("D1: a procedure with a quality of its own goes on after its conditions")
  func quality() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = TracedProcedure()
    procedure.qualityOfService = .utility
    procedure.add(condition: BlockCondition { true })
    queue.add(procedure)
    scheduler.run()
    #expect(procedure.isFinished)
  }
}
