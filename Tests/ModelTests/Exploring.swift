#if MODEL
  import Cancellation
  import Procedures
  import Testing

  /// Explores the scenario of the current test, and says how much there was.
  func explore(
    preemptions: Int? = nil, staleReads: Int? = nil, _ make: () -> Explorer.Scenario
  ) throws {
    var explorer = Explorer()
    if let preemptions { explorer.preemptions = preemptions }
    if let staleReads { explorer.staleReads = staleReads }
    try explorer.exploreTest(make)
  }

  /// Leaves no schedule out: for a test that depends on which thread releases an object last, which
  /// the explorer does not see.
  func exploreInFull(_ make: () -> Explorer.Scenario) throws {
    var explorer = Explorer()
    explorer.reduces = false
    try explorer.exploreTest(make)
  }

  /// The same for a scenario that begins with a queue.
  func exploreInFull(onQueue make: (ModelQueue) -> Explorer.Scenario) throws {
    try exploreInFull { make(ModelQueue()) }
  }

  /// Explores a scenario that begins with a queue.
  func explore(
    limit: Int = .max, proceduresPerWorker: Int = .max, preemptions: Int? = nil,
    staleReads: Int? = nil, onQueue make: (ModelQueue) -> Explorer.Scenario
  ) throws {
    try explore(preemptions: preemptions, staleReads: staleReads) {
      make(ModelQueue(limit: limit, proceduresPerWorker: proceduresPerWorker))
    }
  }

  extension Explorer {
    fileprivate func exploreTest(_ make: () -> Scenario) throws {
      var threads = 0
      let result = try explore {
        let detached = ModelScheduler()
        let surroundings = DetachedSurroundings(scheduler: detached, clock: .continuous)
        let scenario = surroundings.replacingDispatch(make)
        threads = scenario.threads.count + scenario.workers.count
        return scenario.inside(surroundings, detached)
      }
      print(
        "model: \(threads) threads, \(result.schedules) schedules: \(Test.current?.displayName ?? "")"
      )
      #expect(
        reduces ? result.meetings > 2 : result.schedules > 50, "the threads hardly meet: \(result)")
    }
  }

  extension Explorer.Scenario {
    /// With a thread more, for procedures that are on no queue.
    fileprivate func inside(
      _ surroundings: DetachedSurroundings, _ detached: ModelScheduler
    ) -> Explorer.Scenario {
      var scenario = self
      scenario.workers.append(detached)
      scenario.surroundings = { surroundings.replacingDispatch($0) }
      scenario.check = {
        detached.run()
        try surroundings.replacingDispatch(check)
      }
      return scenario
    }
  }
#endif
