import ProcedureTestSupport
import Testing

@testable import Procedures

/// Retries that give up their slot, and their categories, between two attempts.
@Suite(.hangLimit) struct SlotWhileWaitingTests {
  private let scheduler = ManualScheduler()
  private let clock = TestClock()
  private let domain = ExclusionDomain(name: "test")
  private let trace = Recorder<String>()

  private func makeQueue(_ limit: Int = 1) -> ProcedureQueue {
    let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
    queue.maxConcurrentProcedureCount = limit
    return queue
  }

  private func advance(_ seconds: Int = 5) {
    clock.advance(by: .seconds(seconds))
    scheduler.run()
  }

  /// Fails but for its last attempt, and waits five seconds in between.
  private func retry(_ name: String = "try", max: Int = 2) -> RetryProcedure<TracedProcedure> {
    let made = Counter()
    let retry = RetryProcedure(name: name, max: max, wait: .constant(.seconds(5))) { [trace] in
      let number = made.increment()
      return TracedProcedure(
        "\(name) \(number)", trace: trace, failure: number < max ? TestError("\(number)") : nil)
    }
    retry.keepsSlotWhileWaiting = false
    return retry
  }

  private func lasting(_ name: String = "other") -> TracedProcedure {
    TracedProcedure(name, trace: trace, end: .whenToldOrCancelled)
  }

  private var executed: [String] {
    trace.events.filter { $0.hasSuffix("execute") }.map { String($0.dropLast(8)) }
  }

  @Test("Q2: others run during a retry's wait; the attempt starts when there is a slot again")
  func slot() {
    let queue = makeQueue()
    let (retry, other) = (retry(max: 3), lasting())
    #expect(!retry.keepsSlotWhileWaiting)
    queue.add(retry, other)
    scheduler.run()
    #expect(executed == ["try 1", "other"] && retry.isExecuting)
    advance()
    #expect(executed == ["try 1", "other"])
    other.finish()
    scheduler.run()
    #expect(executed == ["try 1", "other", "try 2"])
    let second = lasting("second")
    queue.add(second)
    scheduler.run()
    #expect(executed.last == "second")
    second.finish()
    advance()
    #expect(executed.last == "try 3" && retry.outcome == .succeeded && queue.count == 0)
  }

  @Test("Q2: a child that is added while its retry rests says that it waits for that")
  func lateChildSays() {
    let queue = makeQueue()
    let (retry, other, late) = (retry(), lasting(), lasting("late"))
    queue.add(retry, other)
    scheduler.run()
    retry.add(child: late)
    scheduler.run()
    #expect(
      "\(queue.snapshot())".contains(
        "'late' pending: its group 'try' has given up its slot until its next attempt"))
    advance()
    #expect("\(queue.snapshot())".contains("'late' pending: it waits for one of 1 slots"))
    other.finish()
    scheduler.run()
    late.finish()
    scheduler.run()
    #expect(retry.outcome == .succeeded && late.outcome == .succeeded && queue.count == 0)
  }

  @Test("a retry keeps its slot and categories by default")
  func keeps() {
    let queue = makeQueue()
    let (retry, other) = (retry(), lasting())
    retry.keepsSlotWhileWaiting = true
    queue.add(retry, other)
    scheduler.run()
    #expect(executed == ["try 1"])
    advance()
    #expect(executed == ["try 1", "try 2", "other"])
  }

  @Test("a retry comes back with its priority, behind those that were ready before")
  func priority() {
    let queue = makeQueue()
    let (urgent, plain, other) = (retry("urgent"), retry("plain"), lasting())
    urgent.priority = .high
    queue.add(plain, urgent, other)
    scheduler.run()
    #expect(executed == ["urgent 1", "plain 1", "other"])
    let late = lasting("late")
    queue.add(late)
    advance()
    other.finish()
    scheduler.run()
    #expect(executed == ["urgent 1", "plain 1", "other", "urgent 2", "late"])
    late.finish()
    scheduler.run()
    #expect(executed.last == "plain 2" && queue.count == 0)
  }

  @Test(
    "L1: others hold a retry's categories during its wait, and the attempt starts when it has them again",
    arguments: 1...2)
  func categories(atOnce: Int) {
    let queue = makeQueue(.max)
    let (retry, others) = (retry(), (0..<atOnce).map { lasting("other \($0)") })
    for procedure in [retry] + others {
      procedure.add(condition: AtMost(atOnce, of: ExclusionCategory(named: "server", in: domain)))
      procedure.add(condition: MutuallyExclusive(named: "own \(procedure.name)", in: domain))
    }
    queue.add(retry)
    scheduler.run()
    queue.add(others)
    scheduler.run()
    #expect(executed == ["try 1"] + others.map(\.name))
    advance()
    #expect(executed.last == others.last?.name)
    #expect("\(queue.snapshot())".contains("it waits for 'server'"), "\(queue.snapshot())")
    others[0].finish()
    scheduler.run()
    #expect(executed.last == "try 2" && retry.outcome == .succeeded)
    for other in others { other.finish() }
    scheduler.run()
    #expect(queue.count == 0)
  }

  @Test("L1: attempts stand inside the categories that the retry holds again")
  func inside() {
    let queue = makeQueue(.max)
    let made = Counter()
    let retry = RetryProcedure(max: 3, wait: .constant(.seconds(5))) { [trace, domain] in
      let attempt = TracedProcedure(
        "try \(made.increment())", trace: trace, failure: TestError("again"))
      attempt.add(condition: MutuallyExclusive(named: "a", in: domain))
      return attempt
    }
    retry.add(condition: MutuallyExclusive(named: "a", in: domain))
    retry.keepsSlotWhileWaiting = false
    let other = lasting()
    other.add(condition: MutuallyExclusive(named: "a", in: domain))
    queue.add(retry, other)
    scheduler.run()
    #expect(executed == ["try 1", "other"])
    other.finish()
    advance()
    advance()
    #expect(executed == ["try 1", "other", "try 2", "try 3"] && retry.failed)
  }

  @Test("each start of a retry counts for its rate")
  func rate() {
    let queue = makeQueue(.max)
    let retry = retry(max: 3)
    retry.add(
      condition: RateLimit(2, per: .seconds(60), of: ExclusionCategory(named: "server", in: domain))
    )
    queue.add(retry)
    scheduler.run()
    advance()
    #expect(executed == ["try 1", "try 2"])
    advance(54)
    #expect(executed == ["try 1", "try 2"])
    advance(1)
    #expect(executed == ["try 1", "try 2", "try 3"] && retry.outcome == .succeeded)
  }

  enum Moment: CaseIterable { case waiting, ready, excluded, suspended, attempting }

  @Test(
    "C3: a retry that is cancelled at any moment ends at once, and leaves nothing",
    arguments: Moment.allCases)
  func cancel(moment: Moment) {
    let queue = makeQueue(moment == .excluded ? 3 : 1)
    let (retry, other) = (retry(), lasting())
    if moment == .excluded {
      for procedure in [retry, other] {
        procedure.add(condition: MutuallyExclusive(named: "a", in: domain))
      }
    }
    queue.add(retry)
    scheduler.run()
    if moment != .attempting { queue.add(other) }
    scheduler.run()
    if moment == .suspended { queue.isSuspended = true }
    if moment != .waiting { advance() }
    if moment == .attempting { #expect(retry.isFinished) }
    retry.cancel()
    scheduler.run()
    #expect(retry.isFinished && retry.children.isEmpty)
    #expect(retry.isCancelled == (moment != .attempting))
    queue.isSuspended = false
    other.finish()
    let last = [lasting("last 1"), lasting("last 2")]
    for procedure in last { procedure.add(condition: MutuallyExclusive(named: "a", in: domain)) }
    queue.add(last)
    scheduler.run()
    #expect(executed.last == "last 1")
    last[0].finish()
    scheduler.run()
    last[1].finish()
    scheduler.run()
    #expect(executed.last == "last 2" && queue.count == 0)
  }

  enum Line: CaseIterable { case slot, category, rate }

  @Test(
    "Q2: a rest that begins while its retry stands in line takes its time there, and no slot",
    arguments: Line.allCases)
  func restInLine(line: Line) {
    let queue = makeQueue(line == .category ? .max : 1)
    let (retry, other, second) = (retry(max: 3), lasting(), lasting("second"))
    let category = ExclusionCategory(named: "a", in: domain)
    if line == .rate { retry.add(condition: RateLimit(2, per: .seconds(1_000), of: category)) }
    if line == .category {
      for procedure in [retry, other, second] { procedure.add(condition: AtMost(1, of: category)) }
    }
    queue.add(retry, other)
    scheduler.run()
    advance()
    retry.current?.cancel(withError: TestError("late"))
    scheduler.run()
    #expect(retry.count == 3)
    advance(4)
    other.finish()
    scheduler.run()
    queue.add(second)
    scheduler.run()
    #expect(executed == ["try 1", "other", "second"])
    second.finish()
    scheduler.run()
    #expect(executed.last == "second")
    advance(1)
    #expect(executed.last == "try 3" && retry.outcome == .succeeded && queue.count == 0)
  }

  @Test("Q2: a retry wants its slot after the last rest, if an attempt was cancelled meanwhile")
  func restDuringRest() {
    let queue = makeQueue()
    let (retry, other) = (retry(max: 3), lasting())
    retry.maxConcurrentChildCount = 1
    queue.add(retry)
    scheduler.run()
    advance(3)
    retry.current?.cancel(withError: TestError("early"))
    scheduler.run()
    advance(3)
    queue.add(other)
    scheduler.run()
    #expect(executed == ["try 1", "other"])
    other.finish()
    scheduler.run()
    #expect(executed.last == "other")
    advance(2)
    #expect(executed.last == "try 3" && retry.outcome == .succeeded && queue.count == 0)
  }

  @Test("G9: a suspended retry begins no rest while it stands in line")
  func restInSuspendedRetry() {
    let queue = makeQueue()
    let (retry, other) = (retry(max: 3), lasting())
    queue.add(retry, other)
    scheduler.run()
    advance()
    retry.current?.cancel(withError: TestError("late"))
    retry.isSuspended = true
    scheduler.run()
    advance(10)
    retry.isSuspended = false
    scheduler.run()
    retry.isSuspended = true
    other.finish()
    retry.isSuspended = false
    scheduler.run()
    advance(4)
    #expect(executed == ["try 1", "other"])
    advance(1)
    #expect(executed.last == "try 3" && retry.outcome == .succeeded && queue.count == 0)
  }

  @Test("a suspended queue gives no slot back")
  func suspended() {
    let queue = makeQueue()
    let retry = retry()
    queue.add(retry)
    scheduler.run()
    queue.isSuspended = true
    advance()
    #expect(executed == ["try 1"])
    #expect("\(queue.snapshot())".contains("its queue or group is suspended"))
    queue.isSuspended = false
    scheduler.run()
    #expect(executed == ["try 1", "try 2"] && queue.count == 0)
  }

  @Test("G5: a retry gives its slot up in a group with one slot, and below another retry")
  func nested() {
    let queue = makeQueue()
    let (retry, other) = (retry(), lasting())
    let group = GroupProcedure(children: [retry, other])
    group.maxConcurrentChildCount = 1
    queue.add(group)
    scheduler.run()
    #expect(executed == ["try 1", "other"])
    other.finish()
    advance()
    #expect(executed == ["try 1", "other", "try 2"] && group.isFinished)

    let outer = RetryProcedure(max: 2, wait: .constant(.seconds(5))) { self.retry("inner", max: 1) }
    let failing = RetryProcedure(max: 2, wait: .constant(.seconds(5))) {
      RetryProcedure(max: 2, wait: .constant(.seconds(5))) { [trace] in
        TracedProcedure("deep", trace: trace, failure: TestError("deep"))
      }
    }
    outer.keepsSlotWhileWaiting = false
    failing.keepsSlotWhileWaiting = false
    queue.add(outer, failing)
    for _ in 0..<6 { advance() }
    #expect(outer.outcome == .succeeded && failing.failed && queue.count == 0)
    #expect(executed.count { $0 == "deep" } == 4)
  }

  @Test("L6: a retry comes back behind those that stand in line by then")
  func age() {
    let queue = makeQueue(.max)
    let (retry, other, late) = (retry(), lasting(), lasting("late"))
    for procedure in [retry, other, late] {
      procedure.add(condition: MutuallyExclusive(named: "a", in: domain))
    }
    queue.add(retry, other)
    scheduler.run()
    queue.add(late)
    advance()
    other.finish()
    scheduler.run()
    #expect(executed == ["try 1", "other", "late"])
    late.finish()
    scheduler.run()
    #expect(executed.last == "try 2" && queue.count == 0)
  }

  @Test(
    "L3: another child inside a retry's category keeps it, whatever becomes of the next attempt"
  )
  func otherChildInside() {
    let queue = makeQueue(.max)
    let child = lasting("child")
    let current = Slot<Procedure>()
    let retry = RetryProcedure(max: 2, wait: .constant(.seconds(5))) { [trace] in
      let attempt = TracedProcedure("try", trace: trace, failure: TestError("again"))
      attempt.addDidFinishBlockObserver { _, _ in current.value?.cancel() }
      current.value = attempt
      return attempt
    }
    retry.keepsSlotWhileWaiting = false
    for procedure in [retry, child] {
      procedure.add(condition: MutuallyExclusive(named: "a", in: domain))
    }
    retry.add(child: child)
    queue.add(retry)
    scheduler.run()
    #expect(executed.contains("child"))
    advance()
    child.finish()
    scheduler.run()
    #expect(retry.isFinished && queue.count == 0)
  }

  @Test(
    "an attempt that need not wait any more waits for the slot, and is in no cycle with the retry")
  func tryNow() {
    let queue = makeQueue()
    let retry = retry()
    queue.add(retry)
    scheduler.run()
    guard let next = retry.current else { return }
    for dependency in next.dependencies { next.remove(dependency: dependency) }
    scheduler.run()
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    advance()
    #expect(executed == ["try 1", "try 2"] && queue.count == 0)
  }

  @Test("a retry with other children keeps its slot")
  func otherChildren() {
    let queue = makeQueue()
    let (retry, child, other) = (retry(), lasting("child"), lasting())
    retry.add(child: child)
    queue.add(retry, other)
    scheduler.run()
    #expect(executed.count == 2 && !executed.contains("other"))
    advance()
    #expect(executed.count == 3 && !executed.contains("other"))
    child.finish()
    scheduler.run()
    #expect(executed.last == "other")
  }

  @Test("a child that is added during the wait starts when there is a slot again")
  func lateChild() {
    let queue = makeQueue()
    let (retry, child, other) = (retry(), lasting("child"), lasting())
    queue.add(retry, other)
    scheduler.run()
    retry.add(child: child)
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    advance()
    #expect(executed == ["try 1", "other"])
    #expect(WaitGraph(from: queue.procedures).prove().cycles.isEmpty)
    #expect("\(queue.snapshot())".contains("it waits for one of 1 slots, taken by 'other'"))
    other.finish()
    scheduler.run()
    #expect(Set(executed) == ["try 1", "other", "child", "try 2"])
    child.finish()
    scheduler.run()
    #expect(retry.outcome == .succeeded)
  }

  @Test("Q7: a procedure that has the retry's slot, and waits for the retry, is in a cycle with it")
  func cycle() async {
    let queue = ProcedureQueue(maxConcurrentProcedureCount: 1)
    let retry = RetryProcedure(name: "try", max: 2, wait: .constant(.milliseconds(1))) {
      [trace] in
      TracedProcedure("attempt", trace: trace, failure: TestError("again"))
    }
    retry.keepsSlotWhileWaiting = false
    let child = TracedProcedure("child")
    child.add(dependency: retry)
    queue.add(retry, GroupProcedure(child).named("other"))
    await queue.waitUntilAllFinished()
    #expect((child.errors.first as? ProcedureError)?.code == .dependencyCycle)
  }

  @Test("Q2: retries never use more slots than there are, and lose none, whoever cancels when")
  func race() async {
    for round in 0..<Rounds.few {
      let queue = ProcedureQueue(maxConcurrentProcedureCount: 2)
      let running = Counter()
      let leaf: @Sendable (Bool) -> Procedure = { fails in
        BlockProcedure {
          running.increment()
          defer { running.decrement() }
          if fails { throw TestError("again") }
        }
      }
      let retries = (0..<6).map { index in
        let made = Counter()
        let retry = RetryProcedure(max: 4, wait: .constant(.microseconds(index % 3 * 40))) {
          leaf(made.increment() < 4)
        }
        retry.keepsSlotWhileWaiting = index == 5
        if index < 2 { retry.add(condition: MutuallyExclusive(named: "a", in: domain)) }
        return retry
      }
      await onThreadOfItsOwn {
        raceOnThreads(
          { queue.add(retries) },
          { for retry in retries.suffix(round % 4) { retry.cancel() } },
          { for retry in retries { retry.current?.cancel(withError: TestError("late")) } },
          { for _ in 0..<20 { queue.add(leaf(false)) } })
      }
      await queue.waitUntilAllFinished()
      #expect(running.highest <= 2 && retries.allSatisfy { $0.isFinished })
    }
  }
}
