import Dispatch
import ProcedureTestSupport
import Procedures
import ProceduresTesting
import ProceduresTimeline
import Testing

/// Programs in which most of the time goes to one cause, planted among other work, in virtual time:
/// the verdict is to name that one first.
@Suite(.hangLimit) struct PlantedCauseTests {
  /// What is planted in a queue with three slots, that also has `noise` seconds of work for each
  /// step of the rest.
  struct Program: Sendable, CustomTestStringConvertible {
    let cause: String
    var limit = 3
    let plant: @Sendable (_ scenario: Scenario, _ noise: Int) -> Void

    var testDescription: String { cause }
  }

  static let programs = [
    Program(cause: "slot of queue 'queue' (limit 2)", limit: 2) { scenario, noise in
      scenario.queue.add((1...12).map { lasting(3 + noise, "file \($0)") })
    },
    Program(cause: "slot of group 'tests' (1 at once)") { scenario, noise in
      let tests = GroupProcedure(children: (1...8).map { lasting(2, "test \($0)") }).named("tests")
      tests.maxConcurrentChildCount = 1
      chain(scenario, noise, tests)
    },
    Program(cause: "exclusion 'disk'") { scenario, noise in
      let disk = ExclusionCategory(named: "disk", in: ExclusionDomain(name: "planted"))
      let writes = (1...5).map { lasting(4, "write \($0)") }
      for write in writes { write.add(condition: AtMost(1, of: disk)) }
      let report = lasting(1 + noise, "report")
      report.add(dependencies: writes)
      scenario.queue.add(writes + [report, lasting(2, "index")])
    },
    Program(cause: "exclusion 'licences' (2 at once)", limit: 8) { scenario, noise in
      let licences = ExclusionCategory(named: "licences", in: ExclusionDomain(name: "planted"))
      let runs = (1...8).map { lasting(5 + noise, "run \($0)") }
      for run in runs { run.add(condition: AtMost(2, of: licences)) }
      scenario.queue.add(runs)
    },
    Program(cause: "suspension of queue 'queue'") { scenario, noise in
      scenario.at(1 + noise) { scenario.queue.isSuspended = true }
      scenario.at(20 + noise) { scenario.queue.isSuspended = false }
      chain(scenario, 1 + noise, lasting(1, "load"))
    },
    Program(cause: "suspension of group 'batch'") { scenario, noise in
      let batch = GroupProcedure(lasting(1, "first"), lasting(2, "second")).named("batch")
      batch.isSuspended = true
      scenario.at(30) { batch.isSuspended = false }
      chain(scenario, noise, batch)
    },
    Program(cause: "condition 'is online'") { scenario, noise in
      let upload = lasting(2, "upload")
      upload.add(condition: Answer(clock: scenario.queue.clock, name: "is online", seconds: 15))
      chain(scenario, noise, upload)
    },
    Program(cause: "barrier 'close the day'") { scenario, noise in
      scenario.queue.add(lasting(12 + noise, "nightly backup"), lasting(1, "mail"))
      scenario.queue.add(barrier: lasting(2, "close the day"))
      scenario.queue.add(lasting(3 + noise, "report"))
    },
    Program(cause: "barrier 'check 1' and 3 more") { scenario, noise in
      for day in 1...4 {
        scenario.queue.add(lasting(6 + noise, "long \(day)"), lasting(1, "short \(day)"))
        scenario.queue.add(barrier: lasting(1, "check \(day)"))
      }
      scenario.queue.add(lasting(1, "end"))
    },
    Program(cause: "barrier 'switch'") { scenario, noise in
      // What was added before it is a chain.
      let chain = (1...5).map { lasting(2 + noise, "part \($0)") }
      for (before, after) in zip(chain, chain.dropFirst()) { after.add(dependency: before) }
      scenario.queue.add(chain)
      scenario.queue.add(barrier: lasting(1, "switch"))
      scenario.queue.add(lasting(1, "next"))
    },
    Program(cause: "rate 'mail' (2 in 10 s)", limit: 9) { scenario, noise in
      let mail = ExclusionCategory(named: "mail", in: ExclusionDomain(name: "planted"))
      let letters = (1...8).map { lasting(1 + noise, "letter \($0)") }
      for letter in letters {
        letter.add(condition: RateLimit(2, per: .seconds(10), of: mail))
      }
      scenario.queue.add(letters)
    },
    Program(cause: "exclusion 'index'", limit: 8) { scenario, noise in
      // Held by groups, whose children are the steps of the path.
      let index = ExclusionCategory(named: "index", in: ExclusionDomain(name: "planted"))
      scenario.queue.add(
        groups(4, noise).map { group in
          group.add(condition: AtMost(1, of: index))
          return group
        })
    },
    Program(cause: "slot of queue 'queue' (limit 1);", limit: 1) { scenario, noise in
      scenario.queue.add(groups(5, noise))
    },
    Program(
      cause: "slot of queue 'queue' (limit 2), "
        + "20 more urgent ones that were added later went before 'report'", limit: 2
    ) { scenario, noise in
      let (report, print) = (lasting(1, "report"), lasting(4 + noise, "print"))
      report.priority = .low
      print.add(dependency: report)
      scenario.queue.add(lasting(1, "first"), lasting(1, "second"), report, print)
      scenario.queue.add((1...20).map { lasting(2, "request \($0)") })
    },
    Program(cause: "delay 'cool down'") { scenario, noise in
      chain(scenario, noise, DelayProcedure(name: "cool down", by: .seconds(20)))
    },
    Program(cause: "delay 'turn 1' and 3 more") { scenario, noise in
      let steps: [Procedure] = (1...4).flatMap { page in
        [
          DelayProcedure(name: "turn \(page)", by: .seconds(9)),
          lasting(1 + noise, "read \(page)"),
        ]
      }
      for (before, after) in zip(steps, steps.dropFirst()) { after.add(dependency: before) }
      scenario.queue.add(steps)
    },
    Program(cause: "delay 'tick 1' and 149 more") { scenario, noise in
      let ticks = (1...150).map { DelayProcedure(name: "tick \($0)", by: .seconds(3)) }
      for (before, after) in zip(ticks, ticks.dropFirst()) { after.add(dependency: before) }
      scenario.queue.add(ticks)
      scenario.queue.add(lasting(1 + noise, "beside"))
    },
    Program(cause: "work of 10 in a row, by dependencies (longest: 'compile 1', ") {
      scenario, noise in
      let steps = (1...10).map { lasting(3 + noise, "compile \($0)") }
      for (before, after) in zip(steps, steps.dropFirst()) { after.add(dependency: before) }
      scenario.queue.add(steps)
    },
    Program(cause: "dependency 'elsewhere'") { scenario, noise in
      let elsewhere = lasting(20, "elsewhere")
      scenario.simulation.makeQueue(name: "other").add(elsewhere)
      let merge = lasting(1, "merge")
      merge.add(dependency: elsewhere)
      chain(scenario, noise, merge)
    },
    Program(cause: "held event 'willFinish' ('invoice')") { scenario, noise in
      let invoice = lasting(1, "invoice")
      invoice.addWillFinishBlockObserver { _, _, pendingFinish in
        scenario.simulation.perform(after: .seconds(18)) { pendingFinish.release() }
      }
      chain(scenario, noise, invoice)
    },
    Program(cause: "delay between attempts of 'fetch'") { scenario, noise in
      let left = Counter()
      let fetch = RetryProcedure(name: "fetch", max: 5, wait: .constant(.seconds(6))) {
        TracedProcedure("attempt", failure: left.increment() < 4 ? TestError("busy") : nil)
      }
      chain(scenario, noise, fetch)
    },
    Program(cause: "delay between attempts of 'poll'") { scenario, noise in
      let poll = RepeatProcedure(
        name: "poll", max: 4, wait: .exponential(period: .seconds(4))
      ) { lasting(1, "look") }
      chain(scenario, noise, poll)
    },
    Program(cause: "lingering after a cancel ('stubborn')") { scenario, noise in
      let stubborn = TracedProcedure("stubborn", end: .whenTold)
      scenario.at(2 + noise) { stubborn.cancel() }
      scenario.at(30) { stubborn.finish() }
      chain(scenario, noise, stubborn)
    },
    Program(cause: "lingering after a cancel ('export')") { scenario, noise in
      // It is not the slot that is to blame, though the next one has none.
      let export = TracedProcedure("export", end: .whenTold)
      scenario.queue.maxConcurrentProcedureCount = 1
      scenario.at(1) { export.cancel() }
      scenario.at(25 + noise) { export.finish() }
      scenario.queue.add(export, lasting(1, "next"), lasting(1 + noise, "last"))
    },
    Program(cause: "work (longest: 'parse'") { scenario, noise in
      chain(scenario, noise, lasting(25, "parse"))
    },
    Program(cause: "not enqueued yet ('report')") { scenario, noise in
      scenario.queue.add(lasting(2 + noise, "load"))
      scenario.at(25) { scenario.queue.add(lasting(1, "report")) }
    },
  ]

  /// The planted one in the middle of a chain, beside something that takes as long as half of it.
  private static func chain(_ scenario: Scenario, _ noise: Int, _ planted: Procedure) {
    let (before, after) = (lasting(1 + noise, "before"), lasting(2, "after"))
    planted.add(dependency: before)
    after.add(dependency: planted)
    scenario.queue.add(before, planted, after, lasting(5, "beside"))
  }

  /// Of two children each, one after the other.
  private static func groups(_ count: Int, _ noise: Int) -> [GroupProcedure] {
    (1...count).map { number in
      let (first, second) = (lasting(3 + noise, "first \(number)"), lasting(2, "second \(number)"))
      second.add(dependency: first)
      return GroupProcedure(first, second).named("group \(number)")
    }
  }

  private static func expect(
    _ cause: String, in snapshot: ProcedureTimeline.Snapshot,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let verdict = snapshot.verdict
    #expect(verdict.contains("% is \(cause)"), "\(verdict)", sourceLocation: sourceLocation)
    for entry in snapshot.entries where entry.finished != nil {
      #expect(entry.faults == [], sourceLocation: sourceLocation)
    }
    let sum = snapshot.criticalPathShares.reduce(Duration.zero) { $0 + $1.total }
    #expect(sum == snapshot.duration, sourceLocation: sourceLocation)
  }

  @Test("V4: the verdict names a planted cause first", arguments: programs, [0, 2])
  func planted(_ program: Program, noise: Int) throws {
    let scenario = Scenario(limit: program.limit)
    program.plant(scenario, noise)
    Self.expect(program.cause, in: try scenario.run())
  }

  // MARK: On threads, with time that the program itself lets pass

  private struct Threads {
    let clock = TestClock()
    let timeline = ProcedureTimeline()
    let queue: ProcedureQueue

    init() {
      queue = ProcedureQueue(name: "queue", clock: clock.clock)
      timeline.record(queue)
    }

    func working(_ seconds: Int, _ name: String) -> BlockProcedure {
      BlockProcedure { clock.advance(by: .seconds(seconds)) }.named(name)
    }

    func run(_ procedures: [Procedure]) async -> ProcedureTimeline.Snapshot {
      for (before, after) in zip(procedures, procedures.dropFirst()) {
        after.add(dependency: before)
      }
      queue.add(procedures)
      await queue.waitUntilAllFinished()
      return timeline.snapshot()
    }
  }

  @Test(
    "V1, V4: observers that take long are named, with the event",
    arguments: ["willExecute", "didExecute", "willFinish", "didFinish"])
  func observers(_ event: String) async {
    let threads = Threads()
    let store = threads.working(3, "store")
    @Sendable func takeLong() { threads.clock.advance(by: .seconds(10)) }
    switch event {
    case "willExecute": store.addWillExecuteBlockObserver { _, _ in takeLong() }
    case "didExecute": store.addDidExecuteBlockObserver { _ in takeLong() }
    case "willFinish": store.addWillFinishBlockObserver { _, _, _ in takeLong() }
    default: store.addDidFinishBlockObserver { _, _ in takeLong() }
    }
    let snapshot = await threads.run([threads.working(2, "load"), store, threads.working(1, "end")])
    Self.expect("observer '\(event)' ('store')", in: snapshot)
    #expect(snapshot.waits(of: "store").suffix(1) == ["observer 10.0 (\(event))"])
  }

  /// On the main actor, which it keeps until the closure, or the observer, waits for it.
  @MainActor
  private func block(_ threads: Threads, until name: String) {
    while threads.timeline.snapshot().entry(named: name)?.waits.last?.cause != .mainActor {
      threads.clock.advance(by: .milliseconds(1))
    }
    threads.clock.advance(by: .seconds(10_000))
  }

  @Test(
    "V1, V4: a closure that waits for the main actor counts for that", arguments: [false, true])
  @MainActor func mainActor(hasValue: Bool) async {
    let threads = Threads()
    let show: Procedure =
      hasValue
      ? AsyncResultProcedure(name: "show") { @MainActor in threads.clock.advance(by: .seconds(1)) }
      : MainActorProcedure(name: "show") { threads.clock.advance(by: .seconds(1)) }
    threads.queue.add(threads.working(2, "load"))
    await threads.queue.waitUntilAllFinished()
    threads.queue.add(show)
    block(threads, until: "show")
    await threads.queue.waitUntilAllFinished()
    Self.expect("main actor ('show')", in: threads.timeline.snapshot())
  }

  @MainActor private final class Model: MainActorProcedureObserver {
    nonisolated var events: ProcedureEvents { .didFinish }
    func did(finish procedure: Procedure, withErrors errors: [any Error]) {}
  }

  @Test("V1, V4: an observer on the main actor waits for it, and the wait says so")
  @MainActor func observerOnMainActor() async {
    let threads = Threads()
    let save = threads.working(2, "save")
    save.add(observer: Model())
    threads.queue.add(save)
    let end = threads.working(1, "end")
    end.add(dependency: save)
    threads.queue.add(end)
    block(threads, until: "save")
    await threads.queue.waitUntilAllFinished()
    Self.expect("main actor 'didFinish' ('save')", in: threads.timeline.snapshot())
  }

  @Test("V4: a worker that does not come while nothing recorded runs has other code to blame")
  func otherCode() async {
    let underlying = DispatchQueue(label: "org.example.ledger")
    let clock = TestClock()
    let queue = ProcedureQueue(name: "ledger", underlyingQueue: underlying, clock: clock.clock)
    let timeline = ProcedureTimeline()
    timeline.record(queue)
    underlying.suspend()
    for number in 1...3 {
      queue.add(BlockProcedure { clock.advance(by: .seconds(1)) }.named("entry \(number)"))
    }
    clock.advance(by: .seconds(10))
    underlying.resume()
    await queue.waitUntilAllFinished()
    let verdict = timeline.snapshot().verdict
    #expect(
      verdict.contains(
        "% is worker ('entry 3'), none of the recorded procedures ran for 10 s of it: "
          + "other code held underlying queue 'org.example.ledger'"), "\(verdict)")
  }

  @Test("V1: a present wait is recorded: a delay between attempts, and lingering")
  func unfinished() throws {
    let scenario = Scenario()
    let stubborn = TracedProcedure("stubborn", end: .whenTold)
    let fetch = RetryProcedure(name: "fetch", max: 2, wait: .constant(.seconds(6))) {
      TracedProcedure("attempt", failure: TestError("busy"))
    }
    scenario.queue.add(stubborn, fetch)
    scenario.at(1) { stubborn.cancel() }
    let seen = Slot<ProcedureTimeline.Snapshot>()
    scenario.at(4) {
      seen.value = scenario.timeline.snapshot()
      stubborn.finish()
    }
    _ = try scenario.run()
    #expect(seen.value?.waits(of: "stubborn") == ["lingering after a cancel 3.0"])
    #expect(seen.value?.waits(of: "Delay of 6 s") == ["delay 4.0 (fetch)"])
  }
}
