import Procedures
import ProcedureTestSupport
import Testing

/// Cancels against everything that a procedure can wait for. With STRESS set, thousands of times.
@Suite(.hangLimit) struct WaitingRaceTests {
  private let domain = ExclusionDomain(name: "races")

  /// Notes its finishes.
  private func counting(_ finishes: Counter, _ end: TracedProcedure.End = .itself)
    -> TracedProcedure
  {
    let procedure = TracedProcedure(end: end)
    procedure.addDidFinishBlockObserver { _, _ in finishes.increment() }
    return procedure
  }

  private func expectEnds(_ procedure: Procedure, _ finishes: Counter) async {
    let outcome = await procedure.waitUntilFinished()
    #expect(outcome == (procedure.isCancelled ? .cancelled([]) : .succeeded))
    #expect(finishes.value == 1)
  }

  @Test("F3, C2: a procedure finishes once when it is cancelled against the end of its dependency")
  func dependency() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let finishes = Counter()
      let (dependency, procedure) = (TracedProcedure(), counting(finishes))
      procedure.add(dependency: dependency)
      procedure.add(condition: BlockCondition { true })
      queue.add(procedure)
      await race({ queue.add(dependency) }, { procedure.cancel() })
      await expectEnds(procedure, finishes)
    }
    await queue.waitUntilAllFinished()
  }

  @Test(
    "D3, F3: a procedure finishes once when it is cancelled against a condition's answer",
    arguments: Form.allCases)
  func condition(form: Form) async {
    let queue = ProcedureQueue()
    for index in 0..<Rounds.few {
      let finishes = Counter()
      let procedure = counting(finishes)
      for name in ["a", "b", "c"] { procedure.add(condition: scripted(name, .satisfied, form)) }
      await race(
        { queue.add(procedure) },
        {
          for _ in 0..<(index % 50) { _ = procedure.isPending }
          procedure.cancel()
        })
      await expectEnds(procedure, finishes)
    }
    await queue.waitUntilAllFinished()
  }

  @Test(
    "D3, D1: a procedure finishes once when it is cancelled against an answer that is called twice, and released"
  )
  func answer() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let (finishes, asked) = (Counter(), Gate())
      let answers = Recorder<ConditionAnswer>()
      let procedure = counting(finishes)
      procedure.add(
        condition: AnswerCondition { _, answer in
          answers.note(answer)
          asked.open()
        })
      queue.add(procedure)
      await asked.wait()
      let answer = answers.events[0]
      await race({ procedure.cancel() }, { answer(.satisfied) }, { answer(.ignored) })
      let outcome = await procedure.waitUntilFinished()
      #expect([.succeeded, .cancelled([])].contains(outcome) && finishes.value == 1)
    }
    await queue.waitUntilAllFinished()
  }

  @Test("D1, F3: dependencies and conditions count that are added while conditions are evaluated")
  func additions() async {
    let (queue, blocked) = (ProcedureQueue(), ProcedureQueue(maxConcurrentProcedureCount: 1))
    for _ in 0..<Rounds.few {
      let finishes = Counter()
      // It keeps the only slot, so that the procedure may be added to.
      let blocker = TracedProcedure(end: .whenTold)
      let executing = Gate()
      blocker.addDidExecuteBlockObserver { _ in executing.open() }
      blocked.add(blocker)
      await executing.wait()
      let procedure = counting(finishes)
      for form in Form.allCases { procedure.add(condition: scripted("a", .satisfied, form)) }
      let dependencies = (0..<3).map { _ in TracedProcedure() }
      let late = Recorder<String>()
      blocked.add(procedure)
      await race(
        { for dependency in dependencies { procedure.add(dependency: dependency) } },
        { queue.add(dependencies) },
        { procedure.add(condition: scripted("late", .satisfied, .awaited, late)) })
      blocker.finish()
      await expectEnds(procedure, finishes)
      #expect(!procedure.isCancelled && !late.events.isEmpty)
      #expect(dependencies.filter(\.isFinished).count == 3)
    }
    await queue.waitUntilAllFinished()
    await blocked.waitUntilAllFinished()
  }

  @Test("L1, L4, F3: all exclusive procedures end, and none overlap, when cancels race with grants")
  func locks() async {
    let queues = [ProcedureQueue(), ProcedureQueue(maxConcurrentProcedureCount: 1)]
    let (holders, overlaps, finishes) = (Counter(), Counter(), Counter())
    @Sendable func exclusive(_ categories: String...) -> Procedure {
      let procedure = BlockProcedure {
        if holders.increment() > 1 { overlaps.increment() }
        holders.decrement()
      }
      for category in categories {
        procedure.add(condition: MutuallyExclusive(named: category, in: domain))
      }
      procedure.addDidFinishBlockObserver { _, _ in finishes.increment() }
      return procedure
    }
    for index in 0..<Rounds.few {
      let procedures = [
        exclusive("x", "y"), exclusive("y", "x"), exclusive("x"), exclusive("x"),
        exclusive("z", "x"), exclusive("x", "z"),
      ]
      let group = GroupProcedure(procedures[4], procedures[5])
      if index % 2 == 0 { group.add(condition: MutuallyExclusive(named: "y", in: domain)) }
      let before = finishes.value
      await race(
        {
          queues[0].add(procedures[0], procedures[2])
          queues[1].add(group)
        },
        { queues[1].add(procedures[1], procedures[3]) },
        {
          procedures[index % 6].cancel()
          procedures[(index + 2) % 6].cancel()
          if index % 7 == 0 { group.cancel() }
        },
        {
          queues[0].isSuspended = true
          queues[0].isSuspended = false
        })
      for procedure in procedures { _ = await procedure.waitUntilFinished() }
      _ = await group.waitUntilFinished()
      #expect(finishes.value == before + 6)
    }
    for queue in queues { await queue.waitUntilAllFinished() }
    #expect(overlaps.value == 0)
  }

  @Test("L2, F3: an exclusive procedure finishes once when it is cancelled as a slot becomes free")
  func slot() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    for _ in 0..<Rounds.few {
      let finishes = Counter()
      let blocker = TracedProcedure(end: .whenTold)
      let executing = Gate()
      blocker.addDidExecuteBlockObserver { _ in executing.open() }
      queue.add(blocker)
      await executing.wait()
      let (procedure, next) = (counting(finishes), TracedProcedure())
      for procedure in [procedure, next] {
        procedure.add(condition: MutuallyExclusive(named: "slot", in: domain))
      }
      queue.add(procedure, next)
      await race({ blocker.finish() }, { procedure.cancel() })
      await expectEnds(procedure, finishes)
      #expect(await next.waitUntilFinished() == .succeeded)
    }
    await queue.waitUntilAllFinished()
  }

  @Test("O3, L1, F3: a holder with a pending event finishes once when it is cancelled")
  func pendingEvent() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let finishes = Counter()
      let (procedure, next) = (counting(finishes), TracedProcedure())
      for procedure in [procedure, next] {
        procedure.add(condition: MutuallyExclusive(named: "event", in: domain))
      }
      let (events, held) = (Recorder<PendingEvent>(), Gate())
      procedure.addWillExecuteBlockObserver { _, event in
        events.note(event)
        held.open()
      }
      queue.add(procedure)
      await held.wait()
      queue.add(next)
      await race({ events.events[0].release() }, { procedure.cancel() })
      await expectEnds(procedure, finishes)
      #expect(await next.waitUntilFinished() == .succeeded)
    }
    await queue.waitUntilAllFinished()
  }

  @Test("D1, D3, F3: two procedures that share a prerequisite finish once when one is cancelled")
  func prerequisite() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let shared = TracedProcedure(end: .itself)
      let (firstEnds, secondEnds) = (Counter(), Counter())
      let (first, second) = (counting(firstEnds), counting(secondEnds))
      for procedure in [first, second] {
        procedure.add(condition: BlockCondition { true }.withPrerequisites { _ in [shared] })
      }
      await race({ queue.add(first) }, { queue.add(second) }, { first.cancel() })
      await expectEnds(first, firstEnds)
      await expectEnds(second, secondEnds)
      #expect(!second.isCancelled)
    }
    await queue.waitUntilAllFinished()
  }
}
