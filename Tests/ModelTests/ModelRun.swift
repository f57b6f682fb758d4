#if MODEL
  import Dispatch

  /// One schedule of a scenario.
  ///
  /// The thread that comes to a scheduling point decides itself who goes on, and hands over only if
  /// that is another one: switching is what costs, and most steps need none.
  ///
  /// Unchecked because one thread runs at a time.
  final class ModelRun: @unchecked Sendable {
    private let path: DecisionPath
    let reduction: Reduction
    private var preemptionsLeft: Int
    private var fibers: ArraySlice<Fiber> = []
    private var current: Fiber?
    private let ended = DispatchSemaphore(value: 0)
    private var error: (any Error)?
    private(set) var schedule: [Int] = []
    private let staleReadBudget: Int
    private(set) lazy var memory = WeakMemory(
      threads: fibers.count, path: path, staleReads: staleReadBudget)

    init(_ path: DecisionPath, _ reduction: Reduction, preemptions: Int, staleReads: Int) {
      self.path = path
      self.reduction = reduction
      preemptionsLeft = preemptions
      staleReadBudget = staleReads
    }

    /// Whether threads are left that can never go on.
    var isStuck: Bool { error != nil }

    var staleReads: [String] { memory.staleReads }

    /// Returns when all threads have ended, or none can go on.
    func carryOut(_ scenario: Explorer.Scenario, on pool: FiberPool) -> (any Error)? {
      fibers = pool.take(scenario.threads.count + scenario.workers.count)
      for (fiber, body) in zip(fibers, scenario.threads) {
        fiber.begin(body, inside: scenario.surroundings, in: self)
      }
      for (fiber, scheduler) in zip(fibers.dropFirst(scenario.threads.count), scenario.workers) {
        fiber.beginWorking(for: scheduler, inside: scenario.surroundings, in: self)
      }
      handOver(from: nil)
      ended.wait()
      if error == nil { for fiber in fibers { fiber.dismiss() } }
      return memory.error ?? error
    }

    /// Lets one fiber go on. Returns when it is `fiber`'s turn again, if that has not ended.
    func handOver(from fiber: Fiber?) {
      let next = decide()
      if let next, next === fiber { return }
      // From the hand-over on, others change what is known here, and begin the next schedule.
      let waiting = fiber.flatMap { $0.hasEnded ? nil : $0 }
      current = next
      if let next { next.resume() } else { ended.signal() }
      waiting?.wait()
    }

    /// The one that goes on; nil if none can.
    private func decide() -> Fiber? {
      if let current { reduction.endSegment(of: current.number, waitingFor: current.obstacle) }
      guard fibers.contains(where: \.isRunnable) else {
        if !fibers.allSatisfy(\.isAtRest) { error = Explorer.Deadlock() }
        return nil
      }
      reduction.note(waitingFor: fibers.lazy.compactMap(\.obstacle))
      let isPreemptible = current?.isRunnable ?? false
      guard let next = isPreemptible && preemptionsLeft == 0 ? goOn() : choose(isPreemptible) else {
        error = Explorer.Unrepeatable()
        return nil
      }
      if isPreemptible, next !== current { preemptionsLeft -= 1 }
      schedule.append(next.number)
      return next
    }

    /// The current one, without a decision.
    private func goOn() -> Fiber? {
      if let current { reduction.goOn(with: current.number) }
      return current
    }

    /// Nil if something else was to be decided here before.
    private func choose(_ isPreemptible: Bool) -> Fiber? {
      var candidates = isPreemptible ? fibers.filter { $0 === current } : []
      candidates += fibers.filter { fiber in
        !(isPreemptible && fiber === current) && fiber.isRunnable
          && !reduction.isAsleep(fiber.number)
      }
      if candidates.isEmpty { reduction.skipRest() }
      if reduction.isRedundant {
        return isPreemptible ? current : fibers.first(where: \.isRunnable)
      }
      if candidates.count == 1, isPreemptible || !reduction.followsRecorded {
        reduction.goOn(with: candidates[0].number)
        return candidates[0]
      }
      let turn = DecisionPath.Turn(
        point: schedule.count, places: reduction.placeCount, thread: current?.number,
        candidates: candidates.map(\.number))
      guard let choice = path.choose(turn) else { return nil }
      reduction.goOn(with: candidates[choice].number, after: turn)
      return candidates[choice]
    }
  }
#endif
