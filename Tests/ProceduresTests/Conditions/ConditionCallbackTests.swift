import ProcedureTestSupport
import Procedures
import Testing

/// What a condition says of itself, and what goes with it, is the user's code, and may call back.
@Suite(.hangLimit) struct ConditionCallbackTests {
  private let scheduler = ManualScheduler()

  /// Calls back from each getter, and when it goes.
  private struct CallingBack: Condition {
    final class Callback: Sendable {
      let call: @Sendable () -> Void
      init(_ call: @escaping @Sendable () -> Void) { self.call = call }
      deinit { call() }
    }

    let callback: Callback
    let reads: Recorder<String>
    var answer = ConditionResult.satisfied

    var name: String {
      reads.note("name")
      callback.call()
      return "calling back"
    }

    var exclusions: [ExclusionCategory] {
      reads.note("exclusions")
      callback.call()
      return [ExclusionCategory(named: "calling back", in: ExclusionDomain(name: "its own"))]
    }

    func prerequisites(of procedure: Procedure) -> [Procedure] {
      callback.call()
      return []
    }

    func evaluate(_ procedure: Procedure) async throws -> ConditionResult {
      callback.call()
      return answer
    }
  }

  /// An error that calls back when it goes.
  private struct LastError: Error {
    let callback: CallingBack.Callback
  }

  /// Reads, and changes, what has a lock.
  private func callback(
    _ procedure: Procedure, _ queue: ProcedureQueue, _ calls: Counter
  ) -> CallingBack.Callback {
    .init { [weak procedure] in
      calls.increment()
      _ = "\(queue.snapshot()) \(queue.snapshot().mermaid)"
      guard let procedure else { return }
      procedure.name = "named by its condition"
      _ = (procedure.dependencies, procedure.conditions.count, procedure.errors, procedure.priority)
      procedure.add(observer: BlockObserver())
    }
  }

  @Test(
    "T4: name and exclusions are read once, when it is added; all getters may call back",
    arguments: [false, true])
  func getters(isEnqueuedFirst: Bool) {
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = TracedProcedure(end: .whenToldOrCancelled)
    let (reads, calls) = (Recorder<String>(), Counter())
    if isEnqueuedFirst { queue.isSuspended = true; queue.add(procedure) }
    procedure.add(
      condition: CallingBack(callback: callback(procedure, queue, calls), reads: reads))
    if !isEnqueuedFirst { queue.add(procedure) }
    queue.isSuspended = false
    for _ in 0..<3 {
      _ = "\(queue.snapshot())"
      scheduler.runOne()
    }
    #expect(reads.events.sorted() == ["exclusions", "name"])
    procedure.cancel()
    scheduler.run()
  }

  @Test("T4: a condition may call back in each combination", arguments: 0..<8)
  func combined(_ form: Int) {
    let queue = ProcedureQueue(scheduler: scheduler)
    let procedure = TracedProcedure(end: .whenToldOrCancelled)
    let calls = Counter()
    let condition = CallingBack(callback: callback(procedure, queue, calls), reads: Recorder())
    let combinations: [any Condition] = [
      AndCondition(condition, condition), OrCondition(condition, condition),
      NotCondition(condition), IgnoredCondition(condition),
      SilentCondition(condition), condition.withPrerequisites { _ in [] }, condition && !condition,
      condition || MutuallyExclusive(named: "x"),
    ]
    queue.add(procedure)
    procedure.add(condition: combinations[form])
    _ = queue.snapshot()
    scheduler.run()
    _ = queue.snapshot()
    procedure.cancel()
    scheduler.run()
    #expect(procedure.isFinished && calls.value > 0)
  }

  @Test("T4: a condition and its captures are released under no lock, however its procedure ends")
  func release() async {
    for end in 0..<4 {
      let queue = ProcedureQueue()
      let calls = Counter()
      let procedure = TracedProcedure()
      procedure.add(
        condition: CallingBack(callback: callback(procedure, queue, calls), reads: Recorder()))
      procedure.add(
        condition: BlockCondition { [callback = callback(procedure, queue, calls)] in
          callback.call()
          return true
        })
      switch end {
      case 0: queue.add(procedure)
      case 1:
        procedure.cancel()
        queue.add(procedure)
      case 2:
        let group = GroupProcedure()
        _ = await queue.run(group)
        group.add(child: procedure)
      default: break
      }
      if end < 3 { _ = await procedure.waitUntilFinished() }
      #expect(procedure.isFinished == (end < 3) && calls.value > 0)
    }
  }

  @Test("T4: an answer that is replaced is released under no lock")
  func replacedAnswer() async {
    for _ in 0..<Rounds.few {
      let queue = ProcedureQueue()
      let calls = Counter()
      let procedure = TracedProcedure()
      let dependency = BlockProcedure {}
      procedure.add(
        condition: CallingBack(
          callback: callback(procedure, queue, calls), reads: Recorder(),
          answer: .failed(LastError(callback: callback(procedure, queue, calls)))))
      queue.add(dependency)
      queue.add(procedure)
      procedure.cancel()
      #expect(await procedure.waitUntilFinished().isCancelled && calls.value > 0)
    }
  }
}
