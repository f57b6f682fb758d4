internal import ProcedurePrimitives
internal import ProceduresTimeline

extension ProcedureSimulation {
  /// Runs a scenario to its end once for each seed, and stops at the first failure.
  ///
  /// ```swift
  /// try ProcedureSimulation.explore(seeds: 0..<10_000) { simulation in
  ///   let queue = simulation.makeQueue()
  ///   …
  /// }
  /// ```
  ///
  /// A run fails if the scenario throws, if something never finishes, or for any reason for which
  /// `run()` throws. It is then repeated: if it fails differently, it depends on something outside
  /// the simulation, and the error says so. Otherwise it is simplified: fewer and fewer decisions
  /// differ from the obvious one, as long as it still fails. The error shows the remaining run: its
  /// seed, how to repeat it, and its log. To repeat one seed, explore `17...17`, or make a
  /// simulation of it.
  ///
  /// A scenario must not depend on anything but the simulation: no real time, no state that
  /// outlives it. A category of exclusion should be in a domain of its own.
  ///
  /// - Parameters:
  ///   - seeds: the seeds, one run each.
  ///   - mostSteps: the number of steps after which a run counts as endless.
  ///   - scenario: makes the procedures, in a new simulation for each run.
  /// - Returns: the number of runs, and of different orders of events.
  /// - Throws: a `SimulationError`.
  @discardableResult
  public static func explore(
    seeds: some Sequence<UInt64>, mostSteps: Int = 100_000,
    _ scenario: (ProcedureSimulation) throws -> Void
  ) throws -> SimulationCoverage {
    try withoutActuallyEscaping(scenario) { scenario in
      let exploration = Exploration(mostSteps: mostSteps, scenario: scenario)
      var orders = OrderCount()
      for seed in seeds {
        let run = exploration.run(seed: seed)
        if let failure = run.failure { throw exploration.reduced(failure) }
        orders.note(run.fingerprint)
      }
      return orders.coverage
    }
  }

  /// The same for a range of seeds, so that literals need no type.
  @discardableResult
  public static func explore(
    seeds: Range<UInt64>, mostSteps: Int = 100_000,
    _ scenario: (ProcedureSimulation) throws -> Void
  ) throws -> SimulationCoverage {
    try explore(seeds: AnySequence(seeds), mostSteps: mostSteps, scenario)
  }

  /// Runs a small scenario in every possible order of events, and stops at the first failure.
  ///
  /// ```swift
  /// let coverage = try ProcedureSimulation.exploreAll { simulation in
  ///   let queue = simulation.makeQueue()
  ///   queue.add(first, second)
  ///   …
  /// }
  /// #expect(coverage.isComplete)
  /// ```
  ///
  /// At each step it tries every event that could happen next. At each event of a procedure it may
  /// preempt the procedure for another step, up to `mostPreemptions` times in a run: most faults
  /// need one or two. The number of runs grows like the number of events to the power of that, so
  /// use it for scenarios of a few procedures.
  ///
  /// - Parameters:
  ///   - mostPreemptions: how many times in a run another step may preempt a procedure that could
  ///     go on.
  ///   - mostRuns: the number of runs after which it ends, with `isComplete` false.
  ///   - mostSteps: the number of steps after which a run counts as endless.
  ///   - scenario: makes the procedures, in a new simulation for each run.
  /// - Returns: the number of runs, and of different orders of events.
  /// - Throws: a `SimulationError`, as `explore` does.
  @discardableResult
  public static func exploreAll(
    mostPreemptions: Int = 2, mostRuns: Int = 100_000, mostSteps: Int = 100_000,
    _ scenario: (ProcedureSimulation) throws -> Void
  ) throws -> SimulationCoverage {
    try withoutActuallyEscaping(scenario) { scenario in
      let exploration = Exploration(mostSteps: mostSteps, scenario: scenario)
      var orders = OrderCount()
      var draws: [Int]? = []
      while let next = draws, orders.coverage.runs < mostRuns {
        let run = exploration.run(seed: 0, draws: next, notesChoices: true)
        if let failure = run.failure { throw exploration.reduced(failure) }
        orders.note(run.fingerprint)
        draws = following(run, mostPreemptions: mostPreemptions)
      }
      if draws == nil { orders.complete() }
      return orders.coverage
    }
  }

  /// The decisions of the next run, in the depth-first order of the tree of decisions; nil after
  /// the last.
  private static func following(_ run: Exploration.Run, mostPreemptions: Int) -> [Int]? {
    var preemptions = zip(run.draws, run.choices).count { $0 > 0 && $1.isPause }
    for place in run.draws.indices.reversed() {
      let (decision, choice) = (run.draws[place], run.choices[place])
      if choice.isPause, decision > 0 { preemptions -= 1 }
      let mayBeAnother = !choice.isPause || preemptions < mostPreemptions
      if mayBeAnother, decision + 1 < choice.count {
        return run.draws[..<place] + [decision + 1]
      }
    }
    return nil
  }
}

/// The runs of one scenario.
struct Exploration {
  struct Run {
    let failure: SimulationError?
    let draws: [Int]
    let choices: [SimulationDraws.Choice]
    let fingerprint: Int
  }

  let mostSteps: Int
  let scenario: (ProcedureSimulation) throws -> Void

  func run(
    seed: UInt64, draws: [Int]? = nil, notesChoices: Bool = false,
    timeline: ProcedureTimeline? = nil, isTrial: Bool = false
  ) -> Run {
    let simulation = ProcedureSimulation(
      seed: seed, draws: draws, mostSteps: mostSteps, timeline: timeline,
      notesChoices: notesChoices, waitsForForeignThreads: !isTrial)
    defer { simulation.world.clear() }
    var failure: SimulationError?
    do { try simulation.run(scenario) } catch { failure = simulation.error(error) }
    return Run(
      failure: failure, draws: simulation.draws, choices: simulation.world.choices,
      fingerprint: simulation.record.withLock { $0.log.fingerprint })
  }

  /// Repeats a failed run.
  private func repeated(
    _ failure: SimulationError, draws: [Int], isTrial: Bool = false
  ) -> SimulationError? {
    run(seed: failure.seed, draws: draws, isTrial: isTrial).failure
  }

  // MARK: When a run has failed

  /// The limits of the search for a simpler run: repetitions and time.
  private static let mostReplays = 2_000
  private static let longestSearch = Duration.seconds(20)

  /// The simplest failing run found. A failure that does not repeat is returned unchanged, and says
  /// so.
  func reduced(_ failure: SimulationError) -> SimulationError {
    // 1. Repeat the run by its decisions: the same must happen, event for event.
    guard let again = repeated(failure, draws: failure.draws), again.log == failure.log else {
      var failure = failure
      failure.repeats = false
      return failure
    }
    // 2. Remove decisions that are not needed: first many at once, and then fewer and fewer.
    var best = again
    var decisions = again.draws
    var replays = 0
    let start = ContinuousClock.now
    var size = max(decisions.count { $0 != 0 }, 1)
    while size > 0 {
      let others = decisions.indices.filter { decisions[$0] != 0 }
      var isShorter = false
      for begin in stride(from: 0, to: others.count, by: size) {
        guard replays < Self.mostReplays, start.duration(to: .now) < Self.longestSearch else {
          return recorded(best)
        }
        replays += 1
        var fewer = decisions
        for place in others[begin..<min(begin + size, others.count)] { fewer[place] = 0 }
        guard fewer != decisions,
          let simpler = repeated(failure, draws: fewer.untilLastOther, isTrial: true)
        else { continue }
        (best, decisions, isShorter) = (simpler, simpler.draws, true)
        break
      }
      // Without the removed decisions the others may mean something else: start over with the
      // remaining ones.
      let left = decisions.count { $0 != 0 }
      size = isShorter ? min(size, max(left, 1)) : size / 2
      if left == 0 { break }
    }
    return recorded(best)
  }

  /// Repeats the run with a timeline.
  private func recorded(_ failure: SimulationError) -> SimulationError {
    let timeline = ProcedureTimeline()
    guard
      var again = run(seed: failure.seed, draws: failure.draws, timeline: timeline).failure,
      again.log == failure.log
    else { return failure }
    again.timeline = timeline.snapshot()
    return again
  }
}

extension [Int] {
  /// The decisions up to the last one that is not 0: later ones default to 0.
  fileprivate var untilLastOther: [Int] {
    lastIndex { $0 != 0 }.map { Array(self[...$0]) } ?? []
  }
}
