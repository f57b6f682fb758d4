import Dispatch
import ProcedureTestSupport
import Procedures
import Testing

/// Settings count until the start, whenever they are set; or it is said that they do not.
@Suite(.hangLimit) struct LateSettingsTests {
  private let scheduler = ManualScheduler()
  private let trace = Recorder<String>()
  private let time = TestClock()

  private func make(_ count: Int = 4, _ trace: Recorder<String>? = nil) -> [TracedProcedure] {
    (0..<count).map { TracedProcedure("\($0)", trace: trace ?? self.trace) }
  }

  private func makeQueue() -> ProcedureQueue {
    ProcedureQueue(maxConcurrentProcedureCount: 1, scheduler: scheduler, clock: time.clock)
  }

  private var executed: [String] { executed(in: trace) }

  private func executed(in trace: Recorder<String>) -> [String] {
    trace.events.filter { $0.hasSuffix(" execute") }.map { String($0.dropLast(" execute".count)) }
  }

  // MARK: Priority

  @Test("Q1: the priority of a ready procedure that is set on the queue counts, up and down")
  func ready() {
    let (queue, all) = (makeQueue(), make())
    queue.isSuspended = true
    queue.add(all)
    all[3].priority = .veryHigh
    all[2].priority = .high
    all[0].priority = .veryLow
    all[2].priority = .normal
    queue.isSuspended = false
    scheduler.run()
    #expect(executed == ["3", "1", "2", "0"])
    #expect(all[3].priority == .veryHigh)
  }

  @Test("Q1: a priority counts that is set while a procedure waits for a dependency or a condition")
  func waiting() {
    for isConditional in [false, true] {
      let trace = Recorder<String>()
      let (queue, all) = (makeQueue(), make(4, trace))
      let gate = TracedProcedure(end: .whenTold)
      for procedure in all {
        procedure.add(dependency: gate)
        if isConditional { procedure.add(condition: BlockCondition { true }) }
      }
      queue.add(gate)
      queue.add(all)
      scheduler.run()
      all[3].priority = .veryHigh
      gate.finish()
      scheduler.run()
      #expect(executed(in: trace) == ["3", "0", "1", "2"])
    }
  }

  @Test("Q1, Q12: a priority counts that is set while children are announced")
  func inBatch() {
    let (queue, all) = (makeQueue(), make())
    let group = GroupProcedure()
    group.maxConcurrentChildCount = 1
    group.isSuspended = true
    group.addWillAddProcedureBlockObserver { _, child in
      if child === all[2] { all[3].priority = .veryHigh }
    }
    let lasting = TracedProcedure(end: .whenTold)
    group.add(child: lasting)
    queue.add(group)
    scheduler.run()
    group.add(children: all)
    scheduler.run()
    group.isSuspended = false
    lasting.cancel()
    scheduler.run()
    #expect(executed == ["3", "0", "1", "2"] && group.isFinished)
  }

  enum Way: CaseIterable { case initializer, add, builder, onQueue, whileExecuting }

  @Test(
    "Q1, G1: a child's priority counts that is set after the group was made",
    arguments: Way.allCases)
  func children(way: Way) {
    let (queue, all) = (makeQueue(), make())
    let group: GroupProcedure
    switch way {
    case .initializer, .onQueue, .whileExecuting: group = GroupProcedure(children: all)
    case .add:
      group = GroupProcedure()
      group.add(children: all)
    case .builder: group = GroupProcedure { for procedure in all { procedure } }
    }
    group.maxConcurrentChildCount = 1
    switch way {
    case .initializer, .add, .builder: all[3].priority = .veryHigh
    case .onQueue: break
    case .whileExecuting: group.isSuspended = true
    }
    queue.add(group)
    if way == .whileExecuting { scheduler.run() }
    all[3].priority = .veryHigh
    group.isSuspended = false
    scheduler.run()
    #expect(executed == ["3", "0", "1", "2"] && group.outcome?.isSuccess == true)
  }

  @Test(
    "Q1, L6: a priority counts that is set while a procedure waits for a category, or steps aside")
  func excluded() {
    let category = ExclusionCategory(named: "late", in: ExclusionDomain(name: "late"))
    let queues = (0..<5).map { _ in makeQueue() }
    let (holder, all) = (TracedProcedure(end: .whenTold), make())
    for (procedure, queue) in zip([holder] + all, queues) {
      procedure.add(condition: AtMost(1, of: category))
      queue.add(procedure)
      scheduler.run()
    }
    all[3].priority = .high
    all[2].priority = .veryHigh
    all[0].priority = .low
    all[2].priority = .normal
    holder.finish()
    scheduler.run()
    #expect(executed == ["3", "1", "2", "0"])
  }

  @Test("Q1, L5: a waiter whose priority falls lets those in that it kept out")
  func fallsBehind() {
    let category = ExclusionCategory(named: "falls", in: ExclusionDomain(name: "falls"))
    let queue = ProcedureQueue(scheduler: scheduler, clock: time.clock)
    let holder = TracedProcedure(end: .whenTold)
    let (wide, narrow) = (
      TracedProcedure("wide", trace: trace), TracedProcedure("narrow", trace: trace)
    )
    holder.add(condition: AtMost(2, of: category, taking: 1))
    wide.add(condition: AtMost(2, of: category, taking: 2))
    narrow.add(condition: AtMost(2, of: category, taking: 1))
    for procedure in [holder, wide, narrow] {
      queue.add(procedure)
      scheduler.run()
    }
    #expect(executed == [])
    wide.priority = .low
    scheduler.run()
    #expect(executed == ["narrow"])
    holder.finish()
    scheduler.run()
    #expect(executed == ["narrow", "wide"])
  }

  @Test("Q1: a priority changes nothing that is set after the start, the cancel or the finish")
  func afterwards() {
    let (queue, all) = (makeQueue(), make(2))
    let lasting = TracedProcedure(end: .whenTold)
    queue.add(lasting)
    queue.add(all)
    scheduler.run()
    lasting.priority = .low
    all[0].cancel()
    all[0].priority = .veryHigh
    all[0].qualityOfService = .utility
    scheduler.run()
    lasting.finish()
    scheduler.run()
    lasting.priority = .high
    #expect(executed.last == "1" && queue.count == 0)
    #expect(lasting.priority == .high && all[0].qualityOfService == .utility)
  }

  @Test("Q1: a quality of service counts that is set on the queue, in a block of its own")
  func quality() {
    var submissions: [Int] = []
    for isSet in [false, true] {
      let scheduler = ManualScheduler()
      let (queue, all) = (ProcedureQueue(scheduler: scheduler), make())
      queue.isSuspended = true
      queue.add(all)
      if isSet { all[2].qualityOfService = .utility }
      queue.isSuspended = false
      scheduler.run()
      submissions.append(scheduler.submissions)
    }
    #expect(submissions[1] > submissions[0])
  }

  // MARK: Time-outs

  @Test("Z2: a timeout that is added to an executing procedure counts from then")
  func lateTimeout() {
    let queue = makeQueue()
    let procedure = TracedProcedure(end: .whenTold)
    queue.add(procedure)
    scheduler.run()
    time.advance(by: .seconds(10))
    procedure.timeout(after: .seconds(5))
    time.advance(by: .seconds(4))
    #expect(!procedure.isCancelled)
    time.advance(by: .seconds(1))
    #expect(procedure.isCancelled)
    procedure.finish()
    scheduler.run()
    #expect((procedure.errors.first as? ProcedureError)?.code == .timedOut)
  }

  @Test("Z2: a late timeout of zero cancels at once, and does nothing to a finished procedure")
  func latest() {
    let queue = makeQueue()
    let procedures = [TracedProcedure(end: .whenTold), TracedProcedure()]
    queue.add(procedures[0])
    scheduler.run()
    procedures[0].timeout(after: .zero)
    #expect(procedures[0].isCancelled)
    procedures[0].finish()
    queue.add(procedures[1])
    scheduler.run()
    procedures[1].timeout(after: .zero)
    time.advance(by: .seconds(1))
    scheduler.run()
    #expect(procedures[1].outcome?.isSuccess == true)
  }

  @Test("Z2: a timeout may be added while execute() is on the stack, and as an observer")
  func whileOnTheStack() async {
    let queue = ProcedureQueue(clock: time.clock)
    let (begun, end) = (Gate(), Gate())
    let procedure = AsyncProcedure {
      begun.open()
      await end.wait()
    }
    queue.add(procedure)
    await begun.wait()
    procedure.add(observer: TimeoutObserver(by: .seconds(1)))
    time.advance(by: .seconds(1))
    #expect(procedure.isCancelled)
    end.open()
    await procedure.waitUntilFinished()
  }

  // MARK: A task that is cancelled

  @Test("C7: run(_:) and value(of:) in a cancelled task execute nothing")
  func cancelledTask() async {
    let queue = ProcedureQueue()
    let executed = Recorder<Int>()
    for _ in 0..<Rounds.size(2_000, otherwise: 200) {
      await Task {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        let outcome = await queue.run(BlockProcedure { executed.note(0) })
        #expect(outcome.isCancelled)
        let value = try? await queue.value(of: ResultProcedure { executed.events.count })
        #expect(value == nil)
      }.value
    }
    #expect(executed.events.isEmpty)
    await queue.waitUntilAllFinished()
    #expect(queue.count == 0)
  }
}
