internal import ProceduresTimeline

extension ProcedureSimulation {
  /// Runs a scenario once for each seed, each time to its end, and stops at the first that fails.
  ///
  /// ```swift
  /// try ProcedureSimulation.explore(seeds: 0..<10_000) { simulation in
  ///   let queue = simulation.makeQueue()
  ///   …
  /// }
  /// ```
  ///
  /// A run fails if the scenario throws, if something never finishes, or for any reason for which
  /// `run()` throws. It is then repeated with fewer and fewer decisions that are not the obvious one,
  /// as long as it still fails; the error shows the run that is left: its seed, how to repeat it, and
  /// its log. To look at one seed again, explore `17...17`, or make a simulation of it.
  ///
  /// A scenario must not depend on anything but the simulation: no real time, no state that outlives
  /// it. A category of exclusion should be in a domain of its own.
  ///
  /// - Throws: a `SimulationError`.
  public static func explore(
    seeds: some Sequence<UInt64>, _ scenario: (ProcedureSimulation) throws -> Void
  ) throws {
    for seed in seeds {
      guard let failure = attempt(seed: seed, draws: nil, scenario) else { continue }
      throw shrunk(failure, scenario)
    }
  }

  /// As above, for seeds written as a range of literals.
  public static func explore(
    seeds: Range<UInt64>, _ scenario: (ProcedureSimulation) throws -> Void
  ) throws {
    try explore(seeds: AnySequence(seeds), scenario)
  }

  /// One run; nil if nothing went wrong.
  private static func attempt(
    seed: UInt64, draws: [Int]?, timeline: ProcedureTimeline? = nil,
    _ scenario: (ProcedureSimulation) throws -> Void
  ) -> SimulationError? {
    let simulation = ProcedureSimulation(seed: seed, draws: draws, timeline: timeline)
    defer { simulation.world.clear() }
    do {
      try simulation.run(scenario)
      return nil
    } catch {
      return simulation.error(error)
    }
  }

  /// How often a failing scenario is run again in search of a simpler run.
  private static var mostReplays: Int { 2_000 }

  /// The simplest failing run that is found: first the shortest beginning of the decisions that still
  /// fails, then without those in it that are not needed.
  private static func shrunk(
    _ failure: SimulationError, _ scenario: (ProcedureSimulation) throws -> Void
  ) -> SimulationError {
    var best = failure
    var replays = 0
    func fails(_ draws: [Int]) -> Bool {
      guard replays < mostReplays else { return false }
      replays += 1
      guard let simpler = attempt(seed: failure.seed, draws: draws, scenario) else { return false }
      best = simpler
      return true
    }
    var decisions = failure.draws
    for count in 0..<decisions.count where decisions.isOther(at: count) || count == 0 {
      if fails(Array(decisions.prefix(count))) {
        decisions = Array(decisions.prefix(count))
        break
      }
    }
    for index in decisions.indices.reversed() where decisions[index] != 0 {
      var fewer = decisions
      fewer[index] = 0
      if fails(fewer) { decisions = fewer }
    }
    return recorded(best, scenario)
  }

  /// The same run once more, with a timeline.
  private static func recorded(
    _ failure: SimulationError, _ scenario: (ProcedureSimulation) throws -> Void
  ) -> SimulationError {
    let timeline = ProcedureTimeline()
    guard
      var again = attempt(
        seed: failure.seed, draws: failure.draws, timeline: timeline, scenario),
      again.log == failure.log
    else { return failure }
    again.timeline = timeline.snapshot()
    return again
  }
}

extension [Int] {
  /// Whether a beginning of that length differs from the one before by more than an obvious decision.
  fileprivate func isOther(at count: Int) -> Bool { count > 0 && self[count - 1] != 0 }
}
