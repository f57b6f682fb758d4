internal import Dispatch
internal import ProcedurePrimitives
internal import Procedures

extension ProcedureSimulation {
  /// Runs until nothing is left to be done.
  ///
  /// - Throws: a `SimulationError` if something is unfinished then (with a snapshot of what waits
  ///   for what), if it does not come to an end, if what was to hold always does not, or if
  ///   something that `perform` had planned throws.
  public func run() throws {
    try runUntilIdle()
    if let reason = unfinishedReason { throw error(reason) }
  }

  /// Runs a scenario, and then until nothing is left to be done.
  ///
  /// Procedures on no queue run in the simulation if you call them in here.
  public func run(_ scenario: (ProcedureSimulation) throws -> Void) throws {
    try within { try scenario(self) }
    try run()
  }

  /// Runs until nothing is left to be done; something may wait for what the test does next.
  ///
  /// - Throws: as `run()`, except for unfinished procedures.
  public func runUntilIdle() throws {
    try run(until: .max)
  }

  /// Runs for some time. Later events remain for the next call.
  ///
  /// - Throws: as `run()`, except for unfinished procedures.
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
      throw error(SimulationFailure(description: "\(message()) (\(file):\(line))"))
    }
  }

  /// Has the run fail as soon as `condition`, looked at after each step, is false.
  public func always(_ name: String, _ condition: @escaping @Sendable () -> Bool) {
    record.withLock { $0.invariants.append((name, condition)) }
  }

  private func run(until end: UInt64) throws {
    try within {
      try throwFailure()
      repeat {
        while let event = world.next(until: end, isOver: { !self.hasUnfinished }) {
          event.run()
          try stepEnded()
        }
      } while waitForOtherThreads()
      try throwFailure()
    }
  }

  /// Waits for turns that began on Dispatch's threads, before their procedure was added to a queue here:
  /// a cancel outside of `run(_:)` may still be delivered there.
  ///
  /// - Returns: whether there was one, so that more may be to be done now.
  private func waitForOtherThreads() -> Bool {
    // Only what has nothing to do in the simulation reaches this.
    let away = unfinished.filter(\.isInTurn)
    guard !away.isEmpty else { return false }
    let start = ContinuousClock.now
    var patience = DispatchTimeInterval.microseconds(50)
    // They come soon, unless Dispatch's threads are busy.
    var looks = 0
    while ContinuousClock.now - start < .seconds(60) {
      if world.hasEvents || !away.contains(where: \.isInTurn) { return true }
      looks += 1
      if looks == 20 { patience = .milliseconds(2) }
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + patience)
    }
    return false
  }

  private func stepEnded() throws {
    meetChildren()
    let (steps, invariants) = record.withLock { record in
      record.steps += 1
      return (record.steps, record.invariants)
    }
    for invariant in invariants where !invariant.holds() {
      fail(SimulationFailure(description: "It does not always hold that: \(invariant.name)"))
    }
    if steps >= mostSteps {
      fail(
        SimulationFailure(
          description: "It does not come to an end within \(steps) steps:\n\(snapshots)"))
    }
    try throwFailure()
  }

  private func throwFailure() throws {
    if let failure = record.withLock({ $0.failure.take() }) { throw error(failure) }
  }

  /// The first failure counts.
  func fail(_ error: any Error) {
    record.withLock { $0.failure = $0.failure ?? error }
  }

  func error(_ reason: any Error) -> SimulationError {
    reason as? SimulationError
      ?? SimulationError(seed: seed, draws: draws, reason: reason, log: log)
  }

  // MARK: What is unfinished

  private var hasUnfinished: Bool {
    record.withLock { record in
      record.unfinished.values.contains { $0.procedure?.isEnqueued == true }
    }
  }

  /// In the order in which they were met.
  private var unfinished: [Procedure] {
    let met = record.withLock { Array($0.unfinished.values) }
    return met.sorted { $0.place < $1.place }.compactMap(\.procedure).filter(\.isEnqueued)
  }

  private var unfinishedReason: SimulationFailure? {
    let count = unfinished.count
    guard count > 0 else { return nil }
    let noun = count == 1 ? "procedure has" : "procedures have"
    return SimulationFailure(
      description: "Nothing is left to be done, and \(count) \(noun) not finished:\n\(snapshots)")
  }

  /// Of all queues, also of those that their owners have released.
  private var snapshots: String {
    let queues = record.withLock { $0.queues.compactMap(\.queue) }
    var snapshots = queues.filter { $0.count > 0 }.map { "\($0.snapshot())" }
    if snapshots.isEmpty {
      for procedure in unfinished {
        let snapshot = "\(procedure.snapshotOfSurroundings())"
        let isNew = !snapshots.contains { $0.contains("'\(procedure.name)'") }
        if isNew { snapshots.append(snapshot) }
      }
    }
    return snapshots.joined(separator: "\n")
  }

  // MARK: What happens

  func happened(_ event: SimulationLog.Event, to name: String) {
    let nanoseconds = world.elapsed
    record.withLock { $0.log.note(event, of: name, at: nanoseconds) }
    interrupt()
  }

  func finished(_ procedure: Procedure, _ name: String) {
    record.withLock { record in
      record.unfinished[ObjectIdentifier(procedure)] = nil
      if procedure is GroupProcedure {
        record.groups.removeAll { $0.procedure == nil || $0.procedure === procedure }
      }
    }
    if let outcome = procedure.outcome { happened(.didFinish(outcome), to: name) }
  }

  /// Lets something else happen here, as if on another thread.
  private func interrupt() {
    meetChildren()
    let mayInterrupt = record.withLock { record in
      guard record.depth < 2 else { return false }
      record.depth += 1
      return true
    }
    guard mayInterrupt else { return }
    world.interruption()?.run()
    record.withLock { $0.depth -= 1 }
  }

  /// Observes children that were added since the last step.
  func meetChildren() {
    var index = 0
    while let met = record.withLock({ $0.groups.indices.contains(index) ? $0.groups[index] : nil })
    {
      index += 1
      guard let group = met.procedure as? GroupProcedure else { continue }
      let children = group.children
      guard let last = children.last, last !== met.lastChild else { continue }
      record.withLock { record in
        guard let place = record.groups.firstIndex(where: { $0.procedure === group }) else {
          return
        }
        record.groups[place].lastChild = last
        record.groups[place].hasMetChildren = true
      }
      for child in met.newChildren(among: children) { observe(child) }
    }
  }
}

extension ProcedureSimulation.Met {
  /// Those that were added after the last one that is observed.
  fileprivate func newChildren(among children: [Procedure]) -> ArraySlice<Procedure> {
    guard hasMetChildren else { return children[...] }
    if let place = children.lastIndex(where: { $0 === lastChild }) {
      return children[(place + 1)...]
    }
    // That one has left its group, which so keeps none that has finished.
    return children.filter { !$0.isFinished }[...]
  }
}
