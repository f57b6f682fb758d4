internal import Dispatch
internal import ProcedurePrimitives
internal import Procedures

extension ProcedureSimulation {
  /// Runs until no event is left.
  ///
  /// - Throws: a `SimulationError` if a procedure is unfinished then (with a snapshot of the
  ///   waits), if the run does not end, if a condition of `always` does not hold, or if an action
  ///   of `perform` throws.
  public func run() throws {
    try runUntilIdle()
    guard var reason = unfinishedReason else { return }
    // Jobs that arrive now come from outside threads: they run, to show their effect, and the run
    // still fails.
    var bringsLeft = 10
    while bringsLeft > 0, waitForForeignThreads() {
      bringsLeft -= 1
      try runUntilIdle()
    }
    if bringsLeft < 10 {
      reason.verdict += "\nLater a thread outside the simulation went on with it."
    }
    throw error(reason)
  }

  /// Runs a scenario, and then until no event is left.
  ///
  /// Procedures on no queue run in the simulation if you call them in the scenario.
  public func run(_ scenario: (ProcedureSimulation) throws -> Void) throws {
    try within { try scenario(self) }
    try run()
  }

  /// Runs until no event is left. Procedures may be unfinished, waiting for the test's next action.
  ///
  /// - Throws: the errors of `run()`, except for unfinished procedures.
  public func runUntilIdle() throws {
    try run(until: .max)
  }

  /// Runs for some time. Later events remain for the next call.
  ///
  /// - Throws: the errors of `run()`, except for unfinished procedures.
  public func run(for duration: Duration) throws {
    let end = world.elapsed + duration.nanosecondsRoundedUp
    try run(until: end)
    world.sleep(until: end)
  }

  /// Throws a `SimulationError` with `message` unless `condition` is true.
  public func expect(
    _ condition: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line
  ) throws {
    if try !condition() {
      throw error(SimulationFailure(verdict: "\(message()) (\(file):\(line))"))
    }
  }

  /// Makes the run fail as soon as `condition`, which is checked after each step, is false.
  public func always(_ name: String, _ condition: @escaping @Sendable () -> Bool) {
    record.withLock { $0.invariants.append((name, condition)) }
  }

  private func run(until end: UInt64) throws {
    try within {
      try world.owned {
        try SimulationWatch.shared.watching(self) {
          try throwFailure()
          repeat {
            while let event = world.next(until: end, isOver: { !self.hasUnfinished }) {
              stepBegins(with: event)
              event.run()
              try stepEnded()
            }
          } while waitForOtherThreads()
          try throwFailure()
        }
      }
    }
  }

  private func stepBegins(with event: SimulatedWorld.Event) {
    record.withLock { record in
      record.isStepForeign = event.isForeign
      if !event.isObvious { record.log.noteDecision(insteadOf: nil) }
    }
  }

  /// Waits for turns that began on Dispatch's threads, before their procedure was added to a queue
  /// here: a cancel outside `run(_:)` may still be delivered there.
  ///
  /// - Returns: whether there was one, so that there may be more events now.
  private func waitForOtherThreads() -> Bool {
    // This is reached only when the simulation has no events.
    func isAway(_ procedure: Procedure) -> Bool {
      procedure.isInTurn || procedure.isAboutToSettle
    }
    let away = unfinished.filter(isAway)
    guard !away.isEmpty else { return false }
    let start = ContinuousClock.now
    var patience = DispatchTimeInterval.microseconds(50)
    // They end soon, unless Dispatch's threads are busy.
    var looks = 0
    while ContinuousClock.now - start < .seconds(60) {
      if world.hasEvents || !away.contains(where: isAway) { return true }
      looks += 1
      if looks == 20 { patience = .milliseconds(2) }
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + patience)
    }
    return false
  }

  /// Waits a moment for threads outside the simulation.
  ///
  /// - Returns: whether one of them has added an event.
  private func waitForForeignThreads() -> Bool {
    let start = ContinuousClock.now
    while waitsForForeignThreads, !world.hasEvents, ContinuousClock.now - start < .seconds(1) {
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(2))
    }
    return world.hasEvents
  }

  private func stepEnded() throws {
    let (steps, invariants) = record.withLock { record in
      record.steps += 1
      return (record.steps, record.invariants)
    }
    for invariant in invariants where !invariant.holds() {
      fail(SimulationFailure(verdict: "It does not always hold that: \(invariant.name)"))
    }
    if steps >= mostSteps {
      fail(
        SimulationFailure(
          verdict: "It does not come to an end within \(steps) steps.", unfinished: snapshots))
    }
    try throwFailure()
  }

  private func throwFailure() throws {
    if let failure = record.withLock({ $0.failure.take() }) { throw error(failure) }
  }

  /// Records a failure. The first one counts.
  func fail(_ error: any Error) {
    record.withLock { $0.failure = $0.failure ?? error }
  }

  func error(_ reason: any Error) -> SimulationError {
    if let error = reason as? SimulationError { return error }
    let (log, foreign) = record.withLock { ($0.log, $0.foreignNames.sorted()) }
    return SimulationError(
      seed: seed, draws: draws, reason: reason, log: log.text,
      shortLog: log.shortText(because: "\(reason)"), foreignNames: foreign)
  }

  // MARK: What is unfinished

  private var hasUnfinished: Bool {
    record.withLock { record in
      record.unfinished.values.contains { $0.procedure?.isEnqueued == true }
    }
  }

  /// The unfinished procedures, in the order in which they were met.
  private var unfinished: [Procedure] {
    let met = record.withLock { Array($0.unfinished.values) }
    return met.sorted { $0.place < $1.place }.compactMap(\.procedure).filter(\.isEnqueued)
  }

  private var unfinishedReason: SimulationFailure? {
    let unfinished = unfinished
    guard !unfinished.isEmpty else { return nil }
    // The cause, where it is known, before its effect.
    var verdict = ""
    let onMainActor = unfinished.filter { $0.needsMainActor && $0.isExecuting }
    if !onMainActor.isEmpty {
      let (verb, closure) =
        onMainActor.count == 1 ? ("needs", "its closure was") : ("need", "their closures were")
      verdict =
        "\(Self.list(onMainActor)) \(verb) the main actor, which is no part of a simulation: \(closure) "
        + "written there. Write { @concurrent in … }, or make it where nothing is on the main actor.\n"
    }
    let noun = unfinished.count == 1 ? "procedure has" : "procedures have"
    verdict +=
      "Nothing is left to be done, and \(unfinished.count) \(noun) not finished: \(Self.list(unfinished))."
    return SimulationFailure(verdict: verdict, unfinished: snapshots)
  }

  /// The names of the first five.
  private static func list(_ procedures: [Procedure]) -> String {
    let names = procedures.prefix(5).map { "'\($0.name.onOneLine)'" }.joined(separator: ", ")
    return procedures.count > 5 ? "\(names) and \(procedures.count - 5) more" : names
  }

  /// Snapshots of all queues, even of queues that their owners have released.
  private var snapshots: String {
    let queues = record.withLock { $0.queues.compactMap(\.queue) }
    var snapshots = queues.filter { $0.count > 0 }.map { "\($0.snapshot())" }
    if snapshots.isEmpty {
      for procedure in unfinished {
        let snapshot = "\(procedure.snapshotOfSurroundings())"
        let isNew = !snapshots.contains { $0.contains("'\(procedure.name.onOneLine)'") }
        if isNew { snapshots.append(snapshot) }
      }
    }
    return snapshots.joined(separator: "\n")
  }

  // MARK: What happens

  func happened(_ event: SimulationLog.Event, to name: String) {
    let nanoseconds = world.elapsed
    let isOnForeignThread = world.isOnForeignThread
    let isForeign = record.withLock { record in
      record.log.note(event, of: name, at: nanoseconds)
      let isForeign = isOnForeignThread || record.isStepForeign
      if isForeign { record.foreignNames.insert(name) }
      return isForeign
    }
    if isForeign { world.noteNamed() }
    // Another event may happen here, as if on another thread.
    world.interrupt { record.withLock { $0.log.noteDecision(insteadOf: name) } }
  }

  /// Whether the procedure's turn is put aside, at one of its events, for another step.
  func putsAside(_ name: String) -> Bool {
    guard world.putsAside() else { return false }
    record.withLock { $0.log.noteDecision(insteadOf: name) }
    return true
  }

  func finished(_ procedure: Procedure, _ name: String) {
    record.withLock { $0.unfinished[ObjectIdentifier(procedure)] = nil }
    if let outcome = procedure.outcome { happened(.didFinish(outcome), to: name) }
  }
}
