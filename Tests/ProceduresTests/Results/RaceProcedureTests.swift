import Procedures
import ProcedureTestSupport
import ProceduresTesting
import Testing

@Suite(.hangLimit) struct RaceProcedureTests {
  private let scheduler = ManualScheduler()
  private let racers = (0..<3).map { SourceProcedure<Int>("racer \($0)") }

  private func start(_ race: Procedure) {
    ProcedureQueue(scheduler: scheduler).add(race)
    scheduler.run()
  }

  private func end(_ racer: Int, _ result: Result<Int, any Error>) {
    racers[racer].finish(withResult: result)
    scheduler.run()
  }

  @Test(
    "R4: the first success is its output, and cancels the others; earlier failures are forgotten")
  func firstSuccess() {
    let race = RaceProcedure(racers)
    start(race)
    end(0, .failure(TestError("down")))
    #expect(race.isExecuting && !racers[1].isCancelled)
    end(2, .success(7))
    #expect(racers[1].isCancelled && race.isExecuting)
    // It makes a value all the same.
    end(1, .success(8))
    #expect(race.outcome == .succeeded)
    #expect(try! race.output?.get() == 7)
    #expect(racers[1].outcome == .cancelled([]))
  }

  @Test("R4: without a success it fails with the errors of all, by name")
  func allFail() {
    let race = RaceProcedure(name: "race", racers)
    start(race)
    end(1, .failure(TestError("full")))
    racers[2].cancel()
    end(2, .success(7))
    end(0, .failure(TestError("down")))
    #expect(
      race.outcome?.deep
        == .failed([.child("racer 1", TestError("full")), .child("racer 0", TestError("down"))]))
  }

  @Test("R4: a success without an output wins nothing, and neither does a cancelled one")
  func noOutput() {
    let race = RaceProcedure(name: "race", racers)
    start(race)
    racers[0].finish()
    for racer in racers.dropFirst() {
      racer.cancel()
      racer.finish()
    }
    scheduler.run()
    #expect((race.errors.first as? ProcedureError)?.code == .requirementNotSatisfied)
    #expect(
      "\(race.errors[0])"
        == "'race' has no winner: none of its children has finished with an output.")
    let empty = RaceProcedure<Int>(name: "race", [SourceProcedure<Int>]())
    start(empty)
    #expect((empty.errors.first as? ProcedureError)?.code == .requirementNotSatisfied)
  }

  @Test("R4, G3: a race that is cancelled is cancelled, and has no error of its own")
  func cancelled() async {
    let race = RaceProcedure(racers)
    start(race)
    race.cancel()
    for racer in racers { racer.finish() }
    scheduler.run()
    #expect(race.outcome == .cancelled([]))
    let early = RaceProcedure([SourceProcedure<Int>()])
    early.cancel()
    #expect(await ProcedureQueue().run(early) == .cancelled([]))
  }

  @Test(
    "R4, G2: one at a time they are substitutes, and one that is added when all have failed runs, too"
  )
  func substitutes() {
    let race = RaceProcedure(racers)
    race.maxConcurrentChildCount = 1
    let last = SourceProcedure<Int>("last")
    race.recover { [racers] race, child, errors in
      if child === racers[2] { race.add(child: last) }
      return errors
    }
    start(race)
    for racer in 0..<3 {
      #expect(racers.count(where: \.isExecuting) == 1 && racers[racer].isExecuting)
      end(racer, .failure(TestError("down")))
    }
    last.finish(withResult: .success(9))
    scheduler.run()
    #expect(race.outcome == .succeeded)
    #expect(try! race.output?.get() == 9)
  }

  @Test("R4: racers of several types, retries among them; the value is handed on")
  func types() async throws {
    let failures = Counter()
    let retry = RetryProcedure(max: 3) {
      ResultProcedure { () throws -> Int in
        if failures.increment() < 3 { throw TestError("down") }
        return 7
      }
    }
    let slow = AsyncResultProcedure<Int> {
      try await Task.sleep(for: .seconds(100_000))
      return 8
    }
    let race = RaceProcedure([retry, slow])
    let double = TransformProcedure<Int, Int> { $0 * 2 }
    double.injectResult(from: race)
    let queue = ProcedureQueue()
    queue.add(race, double)
    #expect(try await double.value == 14)
    #expect(slow.isCancelled && failures.value == 3)
  }

  @Test(
    "R4: in any order of events one wins, the others are cancelled or were too late, and nothing is lost"
  )
  func simulated() throws {
    try ProcedureSimulation.explore(seeds: 0..<200) { simulation in
      let racers = (0..<3).map { number in
        ComposedProcedure(
          ResultProcedure { () throws -> Int in
            if number == 0 { throw TestError("down") }
            return number
          })
      }
      for racer in racers {
        racer.add(dependency: delay(simulation.random(in: 0...1), simulation))
      }
      let race = RaceProcedure(racers)
      simulation.makeQueue(maxConcurrentProcedureCount: 2).add(race)
      try simulation.run()
      let output = try race.output?.get()
      try simulation.expect(race.outcome == .succeeded, "\(String(describing: race.outcome))")
      try simulation.expect(output == 1 || output == 2, "\(String(describing: output))")
      let winner = racers[output ?? 0]
      try simulation.expect(winner.outcome == .succeeded, "the winner was cancelled")
    }
  }

  private func delay(_ seconds: Int, _ simulation: ProcedureSimulation) -> Procedure {
    let delay = DelayProcedure(by: .seconds(seconds))
    simulation.makeQueue(name: "delays").add(delay)
    return delay
  }

  @Test("R4: two that succeed at one moment, against a cancel of the race")
  func race() async {
    let queue = ProcedureQueue()
    for round in 0..<Rounds.few {
      let racers = (0..<2).map { number in ResultProcedure { number } }
      let race = RaceProcedure(racers)
      await ProcedureTestSupport.race(
        { queue.add(race) },
        {
          for _ in 0..<(round % 50) { _ = race.isPending }
          if round.isMultiple(of: 2) { race.cancel() }
        })
      let outcome = await race.waitUntilFinished()
      #expect(outcome == (race.isCancelled ? .cancelled([]) : .succeeded))
      if outcome.isSuccess { #expect(race.output != nil) }
    }
    await queue.waitUntilAllFinished()
  }
}
