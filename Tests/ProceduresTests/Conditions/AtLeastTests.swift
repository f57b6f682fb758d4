import ProcedurePrimitives
import ProcedureTestSupport
import ProceduresTesting
import Testing

@testable import Procedures

@Suite(.hangLimit) struct AtLeastTests {
  private let queue = ProcedureQueue()
  private let sources = (0..<3).map { SourceProcedure<Int>("source \($0)") }

  private func waiting(
    _ count: Int, requiring requirement: DependencyRequirement = .any
  ) -> BlockProcedure {
    let procedure = BlockProcedure(name: "waiting") {}
    procedure.add(condition: AtLeast(count, of: sources, requiring: requirement))
    return procedure
  }

  private func end(_ source: Int, withError error: (any Error)? = nil) async {
    #expect(await eventually { sources[source].isExecuting })
    sources[source].finish(withError: error)
    await sources[source].waitUntilFinished()
  }

  @Test(
    "D5: the procedure starts when so many have finished, however they ended, and the others go on")
  func anyTwo() async {
    let procedure = waiting(2)
    queue.add(sources)
    queue.add(procedure)
    await end(1, withError: TestError("full"))
    #expect(
      await eventually {
        "\(queue.snapshot())".contains(
          "'waiting' pending: it waits in AtLeast(2, of: 3 procedures) for 'source 0', 'source 2'")
      })
    await end(0)
    #expect(await procedure.waitUntilFinished() == .succeeded)
    #expect(sources[2].isExecuting)
    await end(2)
  }

  @Test(
    "D5: procedures that end otherwise than required do not count; too many of them fail it, with the reasons"
  )
  func requiring() async {
    let (one, two) = (waiting(1, requiring: .success), waiting(2, requiring: .success))
    queue.add(sources)
    queue.add(one, two)
    await end(0, withError: TestError("down"))
    await end(1, withError: TestError("full"))
    let errors = await two.waitUntilFinished().errors
    #expect((errors.first as? ProcedureError)?.code == .conditionFailed)
    #expect(
      "\(errors[0])" == "Condition 'AtLeast(2, of: 3 procedures)' of 'waiting' was not satisfied: "
        + "Dependency 'source 0' failed, and had to succeed: down; "
        + "Dependency 'source 1' failed, and had to succeed: full")
    #expect(one.isPending)
    await end(2)
    #expect(await one.waitUntilFinished() == .succeeded)
  }

  @Test("D5: if they have finished before it answers at once, and so it does for none")
  func before() {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let (nothing, all, tooMany) = (waiting(0), waiting(3), waiting(4))
    queue.add(nothing)
    scheduler.run()
    #expect(nothing.outcome == .succeeded)
    queue.add(sources)
    scheduler.run()
    for source in sources { source.finish() }
    scheduler.run()
    queue.add(all, tooMany)
    scheduler.run()
    #expect(all.outcome == .succeeded)
    #expect((tooMany.errors.first as? ProcedureError)?.code == .conditionFailed)
  }

  @Test("D5, X2: their didFinish observers have returned")
  func observers() async {
    let (gate, hasReturned) = (Gate(), Gate())
    sources[0].addDidFinishBlockObserver { _, _ in
      gate.block()
      hasReturned.open()
    }
    let procedure = waiting(1)
    procedure.addWillExecuteBlockObserver { _, _ in #expect(hasReturned.isOpen) }
    queue.add(sources)
    queue.add(procedure)
    #expect(await eventually { sources[0].isExecuting })
    sources[0].finish()
    #expect(await eventually { sources[0].isFinished })
    #expect(procedure.isPending)
    gate.open()
    #expect(await procedure.waitUntilFinished() == .succeeded)
    await end(1)
    await end(2)
  }

  @Test("D5, D3: a cancel ends the wait, and nothing waits for them any more")
  func cancelled() async {
    let procedure = waiting(1)
    queue.isSuspended = true
    procedure.cancel()
    queue.add(procedure)
    #expect(await procedure.waitUntilFinished() == .cancelled([]))
    queue.isSuspended = false
    let second = waiting(1)
    queue.add(second)
    #expect(await eventually { "\(queue.snapshot())".contains("it waits in AtLeast") })
    second.cancel()
    #expect(await second.waitUntilFinished() == .cancelled([]))
    await queue.waitUntilAllFinished()
  }

  @Test("D5, Q7: a cycle is one only if none of them can end")
  func cycles() async {
    let reports = Recorder<String>()
    queue.diagnosticsHandler = { reports.note("\($0)") }
    // 1. One waits for it, the other does not.
    let (dependent, free) = (BlockProcedure(name: "dependent") {}, SourceProcedure<Int>("free"))
    let procedure = BlockProcedure(name: "procedure") {}
    procedure.add(condition: AtLeast(1, of: [dependent, free] as [Procedure]))
    dependent.add(dependency: procedure)
    queue.add(dependent, free, procedure)
    #expect(await eventually { "\(queue.snapshot())".contains("it waits in AtLeast") })
    #expect(await eventually { free.isExecuting })
    free.finish()
    #expect(await dependent.waitUntilFinished() == .succeeded && reports.events.isEmpty)
    // 2. Both do.
    let (first, second) = (BlockProcedure(name: "first") {}, BlockProcedure(name: "second") {})
    let stuck = BlockProcedure(name: "stuck") {}
    stuck.add(condition: AtLeast(1, of: [first, second]))
    first.add(dependency: stuck)
    second.add(dependency: stuck)
    queue.add(first, second, stuck)
    let error = await stuck.waitUntilFinished().errors.first as? ProcedureError
    #expect(error?.code == .dependencyCycle)
    await queue.waitUntilAllFinished()
  }

  @Test(
    "D5, Q7: once its answer is certain it waits for none of them any more",
    arguments: [false, true])
  func answered(fails: Bool) {
    let scheduler = ManualScheduler()
    let queue = ProcedureQueue(scheduler: scheduler)
    let dependent = BlockProcedure(name: "dependent") {}
    let free = (0..<2).map { SourceProcedure<Int>("free \($0)") }
    let procedure = BlockProcedure(name: "procedure") {}
    procedure.add(
      condition: AtLeast(2, of: [dependent] as [Procedure] + free, requiring: .success))
    dependent.add(dependency: procedure)
    queue.add(free + [dependent, procedure])
    scheduler.run()
    // The condition's task has not come to its answer yet.
    for source in free { source.finish(withError: fails ? TestError("down") : nil) }
    while !free.allSatisfy({ $0.isFinished && $0.wait.summary == nil }) { scheduler.runOne() }
    #expect(procedure.isPending)
    #expect(WaitGraph(from: [procedure]).firstStuck { $0 === dependent } == nil)
    scheduler.run()
    #expect(dependent.outcome == .succeeded && procedure.isCancelled == fails)
  }

  @Test(
    "D5: a procedure on no queue is reported once the others are not enough, and only as the queue's settings say"
  )
  func missing() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let (scheduler, time) = (ManualScheduler(), TestClock())
      let surroundings = DetachedSurroundings(scheduler: scheduler, clock: time.clock)
      let (reports, missing) = (Recorder<String>(), TracedProcedure("missing"))
      let queues = (0..<3).map { _ in ProcedureQueue(scheduler: scheduler, clock: time.clock) }
      queues[0].diagnosticsHandler = { reports.note("\($0.code): \($0)") }
      queues[1].waitReportDelay = nil
      let waiting = queues.enumerated().flatMap { index, queue in
        let delay = DelayProcedure(by: .seconds(50))
        let fails = BlockProcedure { throw TestError("down") }
        fails.add(dependency: delay)
        let (one, two) = (BlockProcedure(name: "one") {}, BlockProcedure(name: "two \(index)") {})
        let last = BlockProcedure(name: "last") {}
        one.add(condition: AtLeast(1, of: [delay, missing]))
        two.add(condition: AtLeast(2, of: [delay, missing]))
        last.add(condition: AtLeast(1, of: [fails, missing], requiring: .success))
        surroundings.replacingDispatch {
          queue.add(delay, fails, one, two, last)
          scheduler.run()
        }
        return [one, two, last]
      }
      for _ in 0..<100 {
        time.advance(by: .seconds(1))
        scheduler.run()
      }
      #expect(
        reports.events == [
          "dependencyNotAdded: 'two 0' has waited 10 seconds in AtLeast(2, of: 2 procedures) for 'missing', which "
            + "is on no queue: add that to one.",
          "dependencyNotAdded: 'last' has waited 10 seconds in AtLeast(1, of: 2 procedures) for 'missing', which is "
            + "on no queue: add that to one.",
        ])
      queues[0].add(missing)
      scheduler.run()
      #expect(waiting.allSatisfy { $0.outcome == .succeeded } && time.pendingCount == 0)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("Procedures: ") }
    #expect(lines.count == 2 && lines[0].hasPrefix("Procedures: 'two 2' has waited"), "\(lines)")
  }

  @Test("D5: in any order of events it starts with the second of three, and not before")
  func simulated() throws {
    try ProcedureSimulation.explore(seeds: 0..<100) { simulation in
      let queue = simulation.makeQueue(maxConcurrentProcedureCount: 2)
      let delays = (0..<3).map { _ in
        DelayProcedure(by: .seconds(simulation.random(in: 0...2)))
      }
      let ended = Locked<Int?>(nil)
      let procedure = BlockProcedure {
        ended.withLock { $0 = delays.count(where: \.isFinished) }
      }
      procedure.add(condition: AtLeast(2, of: delays))
      queue.add(procedure)
      queue.add(delays)
      try simulation.run()
      let count = ended.withLock { $0 } ?? 0
      try simulation.expect(count >= 2, "it began after \(count)")
    }
  }

  @Test("D5: the end of one against a cancel")
  func race() async {
    for _ in 0..<Rounds.few {
      let sources = (0..<2).map { _ in BlockProcedure {} }
      let procedure = BlockProcedure {}
      procedure.add(condition: AtLeast(1, of: sources))
      queue.add(procedure)
      await ProcedureTestSupport.race({ queue.add(sources) }, { procedure.cancel() })
      let outcome = await procedure.waitUntilFinished()
      #expect(outcome == (procedure.isCancelled ? .cancelled([]) : .succeeded))
    }
    await queue.waitUntilAllFinished()
  }
}
