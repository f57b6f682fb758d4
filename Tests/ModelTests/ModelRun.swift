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
    private var preemptionsLeft: Int
    private var fibers: ArraySlice<Fiber> = []
    private var current: Fiber?
    private let ended = DispatchSemaphore(value: 0)
    private var error: (any Error)?
    private(set) var schedule: [Int] = []
    private let staleReadBudget: Int
    private(set) lazy var memory = WeakMemory(
      threads: fibers.count, path: path, staleReads: staleReadBudget)

    init(_ path: DecisionPath, preemptions: Int, staleReads: Int) {
      self.path = path
      preemptionsLeft = preemptions
      staleReadBudget = staleReads
    }

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
      var options = 0
      for fiber in fibers where fiber.isRunnable { options += 1 }
      guard options > 0 else {
        if !fibers.allSatisfy(\.isAtRest) { error = Explorer.Deadlock() }
        return nil
      }
      let isPreemptible = current?.isRunnable ?? false
      if isPreemptible, preemptionsLeft == 0 { options = 1 }
      guard let choice = options == 1 ? 0 : path.choose(among: options) else {
        error = Explorer.Unrepeatable()
        return nil
      }
      guard let next = isPreemptible ? option(choice, after: current) : option(choice) else {
        preconditionFailure("an option that there is not")
      }
      if isPreemptible, choice > 0 { preemptionsLeft -= 1 }
      schedule.append(next.number)
      return next
    }

    /// Option 0 is that the current one goes on.
    private func option(_ number: Int, after current: Fiber?) -> Fiber? {
      number == 0 ? current : option(number - 1, without: current)
    }

    private func option(_ number: Int, without excluded: Fiber? = nil) -> Fiber? {
      var number = number
      for fiber in fibers where fiber !== excluded && fiber.isRunnable {
        if number == 0 { return fiber }
        number -= 1
      }
      return nil
    }
  }
#endif
