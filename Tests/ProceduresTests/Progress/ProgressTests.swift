import ProcedureTestSupport
import Testing

@testable import Procedures

@Suite(.hangLimit) struct ProgressTests {
  private let scheduler = ManualScheduler()
  private func makeQueue() -> ProcedureQueue { ProcedureQueue(scheduler: scheduler) }

  private func waiting(_ name: String = "p", weight: Double = 1) -> TracedProcedure {
    let procedure = TracedProcedure(name, end: .whenToldOrCancelled)
    procedure.progressWeight = weight
    return procedure
  }

  private func collect(_ fractions: ProgressUpdates) async -> [Double] {
    await fractions.reduce(into: []) { $0.append($1) }
  }

  @Test("a procedure is as far as it says, within 0 and 1; finished, it is at 1, however it ended")
  func reported() {
    let procedures = [waiting(), waiting(), TracedProcedure(failure: TestError("e"))]
    makeQueue().add(procedures)
    scheduler.run()
    #expect(procedures.map(\.fractionCompleted) == [0, 0, 1])
    let pairs = [(0.25, 0.25), (0.1, 0.1), (-3, 0), (7, 1), (.nan, 0), (0.5, 0.5)]
    for (said, expected) in pairs {
      procedures[0].report(fractionCompleted: said)
      #expect(procedures[0].fractionCompleted == expected)
    }
    procedures[0].finish()
    procedures[1].cancel()
    scheduler.run()
    procedures[0].report(fractionCompleted: 0.2)
    #expect(procedures.map(\.fractionCompleted) == [1, 1, 1])
  }

  @Test("a group weighs the progress of its children, however deep, and believes its own reports")
  func weighed() {
    let (heavy, light, deep) = (waiting(weight: 2), waiting(), waiting())
    let group = GroupProcedure(
      heavy, light, GroupProcedure(GroupProcedure(deep), waiting(weight: 0)))
    #expect(group.fractionCompleted == 0 && GroupProcedure().fractionCompleted == 0)
    makeQueue().add(group)
    scheduler.run()
    heavy.report(fractionCompleted: 0.5)
    #expect(group.fractionCompleted == 0.25)
    light.finish()
    deep.report(fractionCompleted: 0.5)
    scheduler.run()
    #expect(group.fractionCompleted == 0.625)
    group.report(fractionCompleted: 0.9)
    #expect(group.fractionCompleted == 0.9)
  }

  @Test(
    "a finished child counts as done, by its weight, whether or not the group keeps it",
    arguments: [true, false])
  func forgotten(keeps: Bool) async {
    let (heavy, light, last) = (waiting(weight: 5), waiting(), waiting(weight: 2))
    let group = GroupProcedure(heavy, GroupProcedure(light), last)
    group.keepsFinishedChildren = keeps
    let seen = group.progressUpdates
    makeQueue().add(group)
    scheduler.run()
    heavy.finish()
    scheduler.run()
    #expect(group.fractionCompleted == 0.625)
    light.finish()
    last.report(fractionCompleted: 0.5)
    scheduler.run()
    #expect(group.children.count == (keeps ? 3 : 1))
    #expect(group.fractionCompleted == 0.875)
    var updates = seen.makeAsyncIterator()
    #expect(await updates.next() == 0.875)
    // A child that is added later has its share.
    group.add(child: waiting(weight: 8))
    #expect(group.fractionCompleted == 0.4375)
    group.cancel()
    scheduler.run()
    #expect(group.fractionCompleted == 1)
  }

  @Test("children that a group forgets later, or before it is watched, count as done")
  func forgottenLater() async {
    let children = (0..<4).map { _ in waiting() }
    let group = GroupProcedure(children: children)
    makeQueue().add(group)
    scheduler.run()
    children[0].finish()
    scheduler.run()
    group.keepsFinishedChildren = false
    #expect(group.children.count == 3 && group.fractionCompleted == 0.25)
    children[1].finish()
    scheduler.run()
    #expect(group.children.count == 2 && group.fractionCompleted == 0.5)
    group.keepsFinishedChildren = true
    children[2].finish()
    scheduler.run()
    #expect(group.children.count == 2 && group.fractionCompleted == 0.75)
    // Two were forgotten before the group is watched.
    var updates = group.progressUpdates.makeAsyncIterator()
    #expect(await updates.next() == 0.75)
    children[3].report(fractionCompleted: 0.5)
    #expect(await updates.next() == 0.875 && group.fractionCompleted == 0.875)
    children[3].finish()
    scheduler.run()
    #expect(await updates.next() == 1)
  }

  @Test("a batch that forgets its children has the progress of all of them")
  func forgetfulBatch() {
    let seen = Recorder<Double>()
    let batch = BatchProcedure { TransformProcedure<Int, Int> { $0 } }
    batch.keepsFinishedChildren = false
    batch.maxConcurrentChildCount = 1
    batch.input = Array(0..<4)
    batch.recover { batch, _, errors in
      seen.note(batch.fractionCompleted)
      return errors
    }
    makeQueue().add(batch)
    scheduler.run()
    #expect(seen.events == [0, 0.25, 0.5, 0.75])
  }

  @Test("a watched group reports each change below, of late children too, and ends with 1")
  func watched() async {
    let (first, deep) = (waiting(), waiting())
    let group = GroupProcedure(first, GroupProcedure(deep))
    var fractions = group.progressUpdates.makeAsyncIterator()
    #expect(await fractions.next() == 0)
    makeQueue().add(group)
    scheduler.run()
    first.report(fractionCompleted: 0.5)
    #expect(await fractions.next() == 0.25)
    deep.finish()
    scheduler.run()
    #expect(await fractions.next() == 0.75)
    let late = waiting(weight: 2)
    group.add(child: late)
    scheduler.run()
    #expect(await fractions.next() == 0.375 && late.isExecuting)
    #expect(group.fractionCompleted == 0.375)
    late.finish()
    first.finish()
    scheduler.run()
    #expect(await fractions.next() == 1)
    #expect(await fractions.next() == nil)
  }

  @Test("updates begin with the present fraction; the finish, a release or a cancel ends them")
  func ends() async {
    let queue = makeQueue()
    let procedure = waiting()
    queue.add(procedure)
    scheduler.run()
    procedure.report(fractionCompleted: 0.5)
    var fractions = procedure.progressUpdates.makeAsyncIterator()
    #expect(await fractions.next() == 0.5)
    procedure.finish()
    scheduler.run()
    #expect(await fractions.next() == 1)
    #expect(await fractions.next() == nil)
    #expect(await collect(procedure.progressUpdates).last == 1)
    let orphaned = { self.waiting().progressUpdates }()
    #expect(await collect(orphaned) == [0])
    let endless = waiting()
    let updates = endless.progressUpdates
    let reading = Task { await collect(updates) }
    reading.cancel()
    #expect(await reading.value.count <= 1)
  }

  @Test("a repeat with a limit counts its attempts")
  func repeated() async {
    let procedure = RepeatProcedure(max: 4) { TracedProcedure(end: .whenTold) }
    makeQueue().add(procedure)
    scheduler.run()
    for index in 1...4 {
      procedure.current?.finish()
      scheduler.run()
      #expect(procedure.fractionCompleted == Double(index) / 4)
    }
  }

  /// Fails when told, a given number of times.
  private func retry(_ max: Int? = nil) -> RetryProcedure<TracedProcedure> {
    let made = Counter()
    return RetryProcedure(max: max, wait: .constant(.seconds(1))) {
      TracedProcedure("\(made.increment())", end: .whenTold)
    }
  }

  @Test("Z4: a retry is as far as its current attempt, also in a group, with and without a limit")
  func retried() {
    for max in [nil, 5] {
      let clock = TestClock()
      let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
      let (retry, other) = (retry(max), waiting())
      let group = GroupProcedure(retry, other)
      #expect(group.fractionCompleted == 0)
      queue.add(group)
      scheduler.run()
      for _ in 0..<3 {
        let attempt = retry.current
        attempt?.report(fractionCompleted: 0.5)
        #expect(retry.fractionCompleted == 0.5 && group.fractionCompleted == 0.25)
        attempt?.finish(withError: TestError("e"))
        scheduler.run()
        #expect(retry.current !== attempt)
        #expect(retry.fractionCompleted == 0 && group.fractionCompleted == 0)
        clock.advance(by: .seconds(1))
        scheduler.run()
      }
      retry.current?.finish()
      scheduler.run()
      #expect(retry.fractionCompleted == 1 && group.fractionCompleted == 0.5)
      other.finish()
      scheduler.run()
    }
  }

  @Test("Z4: an attempt that the reader finds and that is announced to it joins once, and counts")
  func joinedTwice() async {
    let retry = waiting()
    let node = ProgressNode(weight: 1, reported: nil)
    let ofAttempt = ProgressNode(weight: 1, reported: 0.25)
    var fractions = node.watch(for: retry).makeAsyncIterator()
    #expect(await fractions.next() == 0)
    ofAttempt.join(node, replacingOthers: true)
    #expect(await fractions.next() == 0.25)
    ofAttempt.join(node, replacingOthers: true)
    ofAttempt.report(0.5)
    #expect(await fractions.next() == 0.5)
  }

  @Test("Z4: the progress of a retry is that of the current attempt, whatever came before")
  func watchedRetry() async {
    for startsBefore in [true, false] {
      let clock = TestClock()
      let queue = ProcedureQueue(scheduler: scheduler, clock: clock.clock)
      let retry = retry()
      let group = GroupProcedure(retry)
      if startsBefore {
        queue.add(group)
        scheduler.run()
      }
      var fractions = group.progressUpdates.makeAsyncIterator()
      #expect(await fractions.next() == 0)
      if !startsBefore {
        queue.add(group)
        scheduler.run()
      }
      for fraction in [0.25, 0.5, 0.75] {
        let attempt = retry.current
        attempt?.report(fractionCompleted: fraction)
        #expect(await fractions.next() == fraction)
        attempt?.finish(withError: TestError("e"))
        scheduler.run()
        #expect(await fractions.next() == 0)
        clock.advance(by: .seconds(1))
        scheduler.run()
      }
      retry.current?.finish()
      scheduler.run()
      #expect(await fractions.next() == 1)
      #expect(await fractions.next() == nil)
    }
  }

  @Test("groups nested thousands deep are watched and looked at without recursion")
  func deep() async {
    let leaf = waiting()
    var group = GroupProcedure(leaf)
    for _ in 0..<2_000 { group = GroupProcedure(group) }
    var fractions = group.progressUpdates.makeAsyncIterator()
    makeQueue().add(group)
    scheduler.run()
    #expect(await fractions.next() == 0)
    leaf.report(fractionCompleted: 0.5)
    #expect(await fractions.next() == 0.5)
    #expect(group.fractionCompleted == 0.5)
    leaf.finish()
    scheduler.run()
    #expect(await fractions.next() == 1)
  }

  @Test("weights as large as a number can be add up to a fraction")
  func hugeWeights() async {
    let children = [waiting(weight: .greatestFiniteMagnitude), waiting(weight: 1e300), waiting()]
    let group = GroupProcedure(children: children)
    var fractions = group.progressUpdates.makeAsyncIterator()
    #expect(await fractions.next() == 0)
    makeQueue().add(group)
    scheduler.run()
    children[0].report(fractionCompleted: 1)
    #expect(await fractions.next() == 0.5)
    #expect(group.fractionCompleted == 0.5)
    for child in children { child.finish() }
    scheduler.run()
    #expect(await fractions.next() == 1)
  }

  @Test("a negative weight traps, naming the procedure")
  func misuse() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let procedure = BlockProcedure {}
      procedure.name = "upload"
      procedure.progressWeight = -1
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      message.contains("progressWeight of 'upload' must be zero or more, and finite, not -1.0"))
  }

  @Test("reports and children from several threads add up")
  func shared() async {
    let queue = ProcedureQueue()
    for _ in 0..<Rounds.few {
      let holder = waiting()
      let group = GroupProcedure(holder)
      let watching = Task { [updates = group.progressUpdates] in await collect(updates) }
      queue.add(group)
      let children = (0..<6).map { _ in waiting() }
      await race(
        { for child in children.prefix(3) { group.add(child: child) } },
        { for child in children.suffix(3) { group.add(child: child) } },
        { for child in children { child.report(fractionCompleted: 0.5) } })
      group.cancel()
      _ = await group.waitUntilFinished()
      #expect(await watching.value.last == 1)
    }
  }

  @Test("a repeat of many attempts, watched and looked at after each, takes linear time")
  func manyAttempts() async {
    let count = Rounds.size(50_000, otherwise: 750)
    for max in [count, nil] {
      let fractions = Counter()
      let made = Counter()
      let procedure = RepeatProcedure(max: max) { () -> BlockProcedure? in
        made.increment()
        return made.value > count ? nil : BlockProcedure {}
      }
      procedure.addDidAddProcedureBlockObserver { procedure, _ in
        if procedure.fractionCompleted <= 1 { fractions.increment() }
      }
      let updates = procedure.progressUpdates
      await onThreadOfItsOwn { [queue = makeQueue(), scheduler] in
        queue.add(procedure)
        scheduler.run()
      }
      #expect(await collect(updates).last == 1 && fractions.value == count)
    }
  }
}
